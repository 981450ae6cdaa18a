"""Spawning: who may, what the child is told, and that it happens once."""

import json

import pytest

from core.app import App
from core.blocks import TextBlock
from core.entries import ToolResult
from core.erasing import erasing_commit
from core.ids import root_of
from core.thread import ThreadState
from tests.support.rules import FETCH, on, shown, spawn, spawned, task
from tests.support.tree import ROOT, Tree, tree
from tests.support.world import START, WEB, agent

DIG = [
    on(spawn("dig"), user="go"),
    on(says="I wait.", **spawned()),
    on(says="dug", depth=1),
    on(says="It is done.", event="dug"),
]


async def _results(one: Tree, thread_id: str = ROOT) -> list[str]:
    """The contents of the thread's own results, as text."""
    results = [entry for entry in await one.entries(thread_id) if isinstance(entry, ToolResult)]
    return [
        " ".join(block.text if isinstance(block, TextBlock) else str(block) for block in result.content)
        for result in results
    ]


async def test_a_childs_last_text_reaches_its_parent_which_answers() -> None:
    one = tree(DIG)
    await one.say("go")
    (child,) = one.children
    report, answer = (await one.lines())[-2:]
    assert (report[:11], report[-6:]) == ("Event(call_", ", dug)")
    assert answer == "Asst(It is done.)"
    assert (await one.lines(child))[-1] == "Asst(dug)"
    assert (await one.state(child)).closed
    assert (await one.state()).children == ()


async def test_the_child_is_told_who_and_where_it_is_and_what_to_do() -> None:
    one = tree(DIG)
    await one.say("go")
    (child,) = one.children
    called, told = (await one.lines(child))[:2]
    assert called == 'Call(spawn_thread, {"child_of": ["t1"], "instructions": "dig"})'
    for part in (child, f"parent is {ROOT}", str([ROOT, child]), "dig"):
        assert part in told


async def test_people_are_told_of_its_beginning_and_its_end() -> None:
    one = tree(DIG)
    await one.say("go")
    told = [
        (body["type"], body["child_thread_id"]) for body in one.outputs("thread_spawned", "thread_closed")
    ]
    (child,) = one.children
    assert told == [("thread_spawned", child), ("thread_closed", child)]
    assert len({body["call_id"] for body in one.outputs("thread_spawned", "thread_closed")}) == 1


@pytest.mark.parametrize("child_of", [[], ["t2"], ["t1", "t1"], ["t1", "t1~other"]])
async def test_child_of_must_equal_the_callers_stack_and_the_error_says_where_it_is(
    child_of: list[str],
) -> None:
    one = tree([on(spawn("dig", child_of=child_of), user="go"), on(says="Not so.", **spawned())])
    await one.say("go")
    assert one.children == []
    (told,) = await _results(one)
    assert str([ROOT]) in told


async def test_a_child_that_inherited_its_parents_plans_cannot_act_them_out() -> None:
    plan = spawn("dig", child_of=[ROOT])
    one = tree(
        [
            on(says="I shall spawn a child of t1 to dig.", user="think"),
            on(plan, user="go"),
            on(plan, **task("dig")),
            on(says="I am the one to dig.", depth=1),
            on(says="fine"),
        ]
    )
    await one.say("think")
    await one.say("go")
    (child,) = one.children
    assert "I shall spawn" in shown(one.model.asked_in(child)[0])[1]
    assert str([ROOT, child]) in (await _results(one, child))[-1]
    assert (await one.lines(child))[-1] == "Asst(I am the one to dig.)"


async def test_several_in_one_turn_are_several_children_that_never_see_each_other() -> None:
    one = tree(
        [
            on(spawn("north"), spawn("south"), spawn("south"), user="go"),
            on(says="{result}", depth=1),
            on(says="fine"),
        ]
    )
    await one.say("go")
    assert len(set(one.children)) == 3
    for child, (instructions, other) in zip(
        one.children, [("north", "south"), ("south", "north"), ("south", "north")], strict=True
    ):
        (request,) = one.model.asked_in(child)
        assert instructions in str(request.messages)
        assert other not in str(request.messages)
        assert shown(request) == ["user: go", "assistant: call spawn_thread", "user: result spawn_thread"]
    assert [line.startswith("Event(") for line in await one.lines()].count(True) == 3


async def test_next_to_calls_of_tools_it_inherits_none_of_them() -> None:
    echo = ("echo", {"text": "hi"})
    one = tree(
        [on(echo, spawn("dig"), FETCH, user="go", says="So be it."), on(says="dug", depth=1), on(says="ok")]
    )
    await one.say("go")
    (child,) = one.children
    (request,) = one.model.asked_in(child)
    assert shown(request) == [
        "user: go",
        "assistant: So be it., call spawn_thread",
        "user: result spawn_thread",
    ]
    assert [json.loads(body.body)["thread_id"] for body in one.world.dispatcher.once("worker:web")] == [ROOT]
    assert (await one.lines())[-1] != "Asst(ok)"
    await one.answer()
    assert [line.split("(")[0] for line in (await one.lines())[-3:]] == ["Result", "Event", "Asst"]


async def test_children_have_children_whose_reports_go_to_their_own_parent() -> None:
    one = tree(
        [
            on(spawn("lead"), user="go"),
            on(spawn("dig"), **task("lead")),
            on(says="dug", **task("dig"), depth=2),
            on(says="They dug.", event="dug", depth=1),
            on(says="All is done.", event="They dug"),
            on(says="waiting"),
        ]
    )
    await one.say("go")
    child, grandchild = one.children
    assert {root_of(thread_id) for thread_id in one.children} == {ROOT}
    assert (await one.manager(grandchild)).thread_stack == (ROOT, child, grandchild)
    assert (await one.lines(child))[-1] == "Asst(They dug.)"
    assert (await one.lines())[-1] == "Asst(All is done.)"
    assert shown(one.model.asked_in(grandchild)[0]) == [
        "user: go",
        "assistant: call spawn_thread",
        "user: result spawn_thread",
        "assistant: call spawn_thread",
        "user: result spawn_thread",
    ]


async def test_without_history_a_child_sees_its_instructions_as_user_text_and_no_more() -> None:
    one = tree([on(spawn("dig", inherit=False), user="secret"), on(says="dug", depth=1), on(says="fine")])
    await one.say("a secret plan")
    (child,) = one.children
    (request,) = one.model.asked_in(child)
    assert shown(request) == ["user: dig", "assistant: call spawn_thread", "user: result spawn_thread"]
    assert "secret" not in str(request.messages)


async def test_a_child_is_played_by_its_parents_agent_or_by_the_one_asked_for() -> None:
    agents = [agent(name, instructions=f"Be {name}.") for name in ("first", "second", "third")]
    one = tree(
        [
            on(spawn("a"), spawn("b", agent="third"), spawn("c", agent="nobody"), user="go"),
            on(says="done", depth=1),
            on(says="fine"),
        ],
        app=App(agents=agents),
    )
    await one.say("go", agent="second")
    assert [one.model.asked_in(child)[0].instructions for child in one.children] == [
        "Be second.",
        "Be third.",
    ]
    assert "first, second, third" in (await _results(one))[-1]


@pytest.mark.parametrize("instructions", ["", " \n", "long " * 60_000])
async def test_instructions_must_say_something_that_a_message_can_carry(instructions: str) -> None:
    one = tree([on(spawn(instructions), user="go"), on(says="Not so.")])
    await one.say("go")
    assert one.children == []
    assert (await one.lines())[-2:] == ["Result(spawn_thread, error)", "Asst(Not so.)"]


async def test_the_longest_instructions_fit_one_message_however_often_they_stand_in_it() -> None:
    one = tree([on(spawn("é" * 43_000, inherit=False), user="go"), on(says="fine")])
    await one.visit(one.message("user_message", content="go"))
    (message,) = one.sent("spawn")
    assert 700_000 < len(message.body) < 1_048_576


async def test_its_calls_say_whose_they_are() -> None:
    one = tree([on(spawn("dig"), user="go"), on(FETCH, depth=1), on(says="fine")])
    await one.say("go", metadata={"user_id": "u1", "tenant_id": 7})
    (call,) = one.world.dispatcher.bodies(WEB)
    (child,) = one.children
    assert (call["thread_id"], call["root_thread_id"], call["thread_ancestors"]) == (child, ROOT, [ROOT])
    assert (call["user_id"], call["metadata"]["tenant_id"]) == ("u1", 7)


async def test_a_spawn_that_comes_twice_makes_one_child() -> None:
    one = tree(DIG)
    await one.say("go")
    (child,) = one.children
    before = await one.lines(child), await one.lines()
    report = await one.deliver(one.sent("spawn")[0])
    await one.rest()
    assert report.inputs == ("stale",)
    assert (await one.lines(child), await one.lines()) == before


async def test_a_spawn_older_than_any_marker_makes_none() -> None:
    one = tree(DIG)
    one.held.update({"t1"})
    await one.visit(one.message("user_message", content="go"))
    one.world.clock.advance(61 * 86_400)
    report = await one.deliver(one.sent("spawn")[0])
    assert report.inputs == ("stale",)
    assert await one.lines(one.children[0]) == []


async def test_no_spawn_begins_on_the_end_of_an_erased_log() -> None:
    one, other = tree(DIG), tree(DIG)
    await one.say("go")
    (sent,) = one.sent("spawn")
    await other.world.store.commit(erasing_commit(one.children[0], ThreadState(), START))
    report = await other.deliver(sent)
    assert (report.inputs, report.commits) == (("stale",), 0)
