"""`close_thread`: what ends with a thread, and that nothing else of the turn is done."""

from typing import Any

import pytest

from tests.support.rules import FETCH, on, spawn, spawned, task
from tests.support.tree import ROOT, Tree, tree

CLOSE_ME = ("close_thread", {"thread_id": "{thread_id}", "report_to_parent": "That is all."})
FINE = on(says="fine")


def _close(thread_id: str, **more: Any) -> Any:
    return ("close_thread", {"thread_id": thread_id, **more})


async def _family() -> Tree:
    """A root, a child that waits for two calls, and its own child, which waits for one."""
    one = tree(
        [
            on(spawn("lead"), user="go"),
            on(FETCH, spawn("dig"), ("dig", {"depth": 1}), **task("lead")),
            on(FETCH, **task("dig")),
            on(says="fine", depth=0),
            on(says="late", depth=1),
            on(says="late", depth=2),
        ]
    )
    await one.say("go")
    return one


async def test_a_parent_closes_a_child_and_all_that_it_waits_for_ends_down_the_tree() -> None:
    one = await _family()
    child, grandchild = one.children
    subscribed, _ = await one.live(child)
    await one.tell("tool_result", child, call_id=subscribed, content="watching", subscription=True)
    one.model.play(on(_close(child), user="stop"), FINE)
    await one.say("stop")
    for thread_id in (child, grandchild):
        state = await one.state(thread_id)
        assert (state.closed, state.waiting, state.subscriptions) == (True, False, ())
    assert (await one.lines(grandchild))[-2:] == ["Result(fetch, interrupted)", "TurnEnd(cancelled)"]
    cancelled = [thread for kind, thread in one.told("worker:web") if kind == "tool_cancel"]
    assert sorted(cancelled) == sorted([child, child, grandchild])


async def test_the_parent_that_closed_it_is_not_woken_and_gets_its_credit_back() -> None:
    one = await _family()
    child = one.children[0]
    given = (await one.state()).children[0].credit
    one.model.play(on(_close(child), user="stop"), FINE)
    await one.say("stop")
    state = await one.state()
    assert (state.children, state.owes) == ((), False)
    assert state.credit is not None
    assert state.credit > given
    assert not [line for line in await one.lines() if line.startswith("Event(")]
    assert (await one.lines())[-2:] == [f'Result(close_thread, {{"closing": "{child}"}})', "Asst(fine)"]
    assert [body["child_thread_id"] for body in one.outputs("thread_closed")] == [child]


async def test_closing_a_root_closes_its_tree() -> None:
    one = await _family()
    await one.tell("close")
    assert all([(await one.state(thread_id)).closed for thread_id in (ROOT, *one.children)])
    assert one.waiting() == []


async def test_a_thread_that_closes_itself_does_nothing_else_of_that_turn() -> None:
    one = tree(
        [
            on(spawn("lead"), user="go"),
            on(("echo", {"text": "x"}), spawn("dig"), FETCH, CLOSE_ME, says="Enough.", depth=1),
            FINE,
        ]
    )
    await one.say("go")
    (child,) = one.children
    history = await one.lines(child)
    assert history[2] == "Asst(Enough.)"
    assert [line.partition(",")[0] for line in history[3:7]] == [
        f"Call({tool}" for tool in ("echo", "spawn_thread", "fetch", "close_thread")
    ]
    assert history[7:-1] == [f"Result({tool}, interrupted)" for tool in ("echo", "spawn_thread", "fetch")]
    assert history[-1] == f'Result(close_thread, {{"closed": "{child}"}})'
    assert one.children == [child]
    assert one.told("worker:web") == []
    assert (await one.lines())[-2].endswith(", That is all.)")


async def test_a_root_closes_itself_and_its_answer_is_told() -> None:
    one = tree([on(_close(ROOT), says="Good bye.", user="bye")])
    await one.say("bye")
    await one.say("hello?")
    (answer,) = one.outputs("assistant_message")
    assert (answer["text"], answer["final"]) == ("Good bye.", True)
    assert [error["code"] for error in one.outputs("error")] == ["closed"]
    assert (await one.lines())[-1] == f'Result(close_thread, {{"closed": "{ROOT}"}})'


@pytest.mark.parametrize(
    "arguments",
    [
        {"thread_id": "t2"},
        {"thread_id": "t1~nobody"},
        {"thread_id": "{thread_id}", "report_to_parent": "x" * 300_000},
        {"thread_id": 7},
    ],
)
async def test_what_is_no_open_child_cannot_be_closed(arguments: dict[str, Any]) -> None:
    one = tree([on(("close_thread", arguments), user="stop"), FINE])
    await one.say("stop")
    assert (await one.lines())[-2:] == ["Result(close_thread, error)", "Asst(fine)"]
    assert one.sent("close") == []


async def test_a_childs_end_is_told_by_itself_not_by_who_closes_it() -> None:
    one = await _family()
    child = one.children[0]
    one.model.play(on(_close(child, report_to_parent="It is over."), user="stop"), FINE)
    await one.say("stop")
    assert (await one.lines())[-2:] == ["Result(close_thread, error)", "Asst(fine)"]
    assert not (await one.state(child)).closed


async def test_a_child_cannot_close_its_parent_nor_its_sibling() -> None:
    one = tree(
        [
            on(spawn("one"), spawn("two"), user="go"),
            on(FETCH, **task("one")),
            on(_close(ROOT), **task("two")),
            on(_close("t1~sibling"), tool_result="close_thread", turns=2),
            on(says="done", depth=1),
            FINE,
        ]
    )
    await one.say("go")
    assert (await one.lines(one.children[1])).count("Result(close_thread, error)") == 2
    assert [(await one.state(thread_id)).closed for thread_id in (ROOT, *one.children)] == [
        False,
        False,
        True,
    ]


async def test_a_close_that_crosses_the_childs_own_end_changes_nothing() -> None:
    one = tree([on(spawn("dig"), user="go"), on(says="dug", depth=1), on(says="wait", **spawned()), FINE])
    one.held.add(ROOT)
    await one.visit(one.message("user_message", content="go"))
    await one.rest()
    (child,) = one.children
    one.model.play(on(_close(child), user="stop"), FINE)
    one.held.clear()
    await one.visit(one.message("user_message", content="stop"))
    (close,) = one.sent("close")
    before = await one.lines(child)
    assert (await one.deliver(close)).inputs == ("stale",)
    await one.rest()
    assert await one.lines(child) == before
    assert (await one.state()).children == ()
    assert one.outputs("error") == []
