"""What a child's model is asked: well-formed for the strictest provider, wherever its parent's history was cut."""

from typing import Any

import pytest

from core.render import BLOCKED_NOTE
from core.request import CallPart
from tests.support.rules import FETCH, on, shown, spawn, spawned, task
from tests.support.tree import Tree, tree

ECHO = ("echo", {"text": "a"})
THINKS = {"text": "hm", "signature": "c2ln"}
PLACED = ["assistant: call spawn_thread", "user: result spawn_thread"]


def _thinking(rule: Any) -> Any:
    """The rule's turn begins with reasoning."""
    return {**rule, "reply": {**rule["reply"], "reasoning": THINKS}}


async def _first_request(one: Tree, *said: str) -> list[str]:
    """What the first child's model is asked first."""
    for text in said:
        await one.say(text)
    return shown(one.model.asked_in(one.children[0])[0])


@pytest.mark.parametrize(
    ("first", "inherited"),
    [
        (on(says="Hello.", user="hi"), ["assistant: Hello.", "user: go"]),
        (on(ECHO, user="hi"), ["assistant: call echo", "user: result echo", "assistant: ok", "user: go"]),
        (
            on(ECHO, ECHO, says="Twice.", user="hi"),
            [
                "assistant: Twice., call echo, call echo",
                "user: result echo, result echo",
                "assistant: ok",
                "user: go",
            ],
        ),
        (on(user="hi"), ["user: hi, go"]),
        (on(error="invalid", user="hi"), ["user: hi, go"]),
        (_thinking(on(says="Hello.", user="hi")), ["assistant: hm, Hello.", "user: go"]),
    ],
    ids=[
        "after text",
        "after a result",
        "after two results",
        "after nothing",
        "after a failure",
        "after reasoning",
    ],
)
async def test_it_inherits_whole_turns(first: Any, inherited: list[str]) -> None:
    one = tree([first, on(spawn("dig"), user="go"), on(says="dug", depth=1), on(says="ok")])
    before = [] if inherited[0].startswith("user") else ["user: hi"]
    assert await _first_request(one, "hi", "go") == [*before, *inherited, *PLACED]


@pytest.mark.parametrize(
    ("turn", "own"),
    [
        (on(spawn("dig"), says="I spawn.", user="go"), "assistant: I spawn., call spawn_thread"),
        (_thinking(on(spawn("dig"), user="go")), "assistant: call spawn_thread"),
        (
            _thinking(on(spawn("dig"), says="I spawn.", user="go")),
            "assistant: hm, I spawn., call spawn_thread",
        ),
        (on(ECHO, spawn("dig"), FETCH, user="go"), "assistant: call spawn_thread"),
        (on(spawn("x", child_of=[]), spawn("dig"), user="go"), "assistant: call spawn_thread"),
    ],
    ids=["text", "reasoning", "reasoning and text", "other calls", "a failed spawn"],
)
async def test_of_the_spawning_turn_it_sees_only_what_was_said_before_the_calls(turn: Any, own: str) -> None:
    one = tree([turn, on(says="dug", depth=1), on(says="ok")])
    assert await _first_request(one, "go") == ["user: go", own, "user: result spawn_thread"]


async def test_events_and_interrupted_calls_are_inherited_like_everything_else() -> None:
    rules = [
        on(spawn("dig"), user="go"),
        on(FETCH, user="watch"),
        on(says="watching", tool_result="fetch"),
        on(says="seen", event=True, depth=0),
        on(says="ok"),
    ]
    one = tree(rules)
    await one.say("watch")
    (call_id,) = await one.live()
    await one.answer(content="subscribed", subscription=True)
    await one.tell("subscription_event", call_id=call_id, content="news", associative=True)
    await one.say("watch")
    assert await _first_request(one, "go") == [
        "user: watch",
        "assistant: call fetch",
        "user: result fetch",
        "assistant: watching, call receive_event__injected",
        "user: result receive_event__injected",
        "assistant: seen",
        "user: watch",
        "assistant: call fetch",
        "user: result fetch, go",
        *PLACED,
    ]


async def test_later_requests_of_a_child_go_on_from_the_same_beginning() -> None:
    one = tree(
        [
            on(spawn("dig"), user="go"),
            on(FETCH, **task("dig")),
            on(ECHO, tool_result="fetch", depth=1),
            on(says="dug", depth=1),
            on(says="ok"),
        ]
    )
    await one.say("go")
    (child,) = one.children
    await one.answer(child)
    first, second, third = one.model.asked_in(child)
    for earlier, later in ((first, second), (second, third)):
        assert later.messages[: len(earlier.messages)] == earlier.messages


async def test_what_a_parent_does_later_never_changes_what_its_child_sees() -> None:
    one = tree(
        [on(spawn("dig"), user="go"), on(FETCH, **task("dig")), on(says="dug", depth=1), on(says="later")]
    )
    await one.say("go")
    await one.say("something else")
    (child,) = one.children
    await one.answer(child)
    assert "later" not in str(one.model.asked_in(child)[-1].messages)
    assert "something else" not in str(one.model.asked_in(child)[-1].messages)


async def test_a_grandchild_of_a_child_without_history_sees_nothing_of_the_root() -> None:
    one = tree(
        [
            on(spawn("lead", inherit=False), user="secret"),
            on(spawn("dig"), **task("lead")),
            on(says="dug", **task("dig")),
            on(says="ok"),
        ]
    )
    await one.say("a secret plan")
    grandchild = one.children[1]
    (request,) = one.model.asked_in(grandchild)
    assert shown(request) == ["user: lead", *PLACED, *PLACED]
    assert "secret" not in str(request.messages)


async def test_call_ids_of_a_whole_lineage_differ() -> None:
    one = tree(
        [on(spawn("same"), depth=0, user="go"), on(spawn("same"), **spawned(1), turns=2), on(says="ok")]
    )
    await one.say("go")
    ids = [
        part.call_id
        for message in one.model.requests[-1].messages
        for part in message.parts
        if isinstance(part, CallPart)
    ]
    assert len(ids) == len(set(ids)) > 0


async def test_what_a_filter_blocked_in_a_child_hides_nothing_of_its_parent() -> None:
    one = tree(
        [
            on(spawn("dig"), user="go"),
            {
                "when": {"depth": 1, "user": "bad"},
                "reply": {"text": "no", "stop_reason": "guardrail_intervened"},
            },
            on(FETCH, **task("dig")),
            on(says="ok"),
        ]
    )
    for text in ("one", "two", "three", "four", "go"):
        await one.say(text)
    (child,) = one.children
    await one.answer(child, "subscribed", subscription=True)
    await one.say("bad", child)
    hidden = (await one.state(child)).hidden
    assert hidden
    await one.say("good", child)
    last = shown(one.model.asked_in(child)[-1])
    assert sum(line.count(BLOCKED_NOTE) for line in last) == len(hidden)
    assert not any("bad" in line for line in last)
