"""What open threads tell each other: interim reports up, parent messages down, and what comes back."""

from typing import Any

import pytest

from core.entries import Event
from tests.support.rules import FETCH, on, spawn, spawned, task
from tests.support.tree import ROOT, Tree, tree

FINE = on(says="fine")


def _send(thread_id: str, message: str = "hurry") -> Any:
    return ("send_message_to_child", {"thread_id": thread_id, "message": message})


def _report(report: str = "half done") -> Any:
    return ("report_to_parent", {"report": report})


async def _waiting() -> tuple[Tree, str]:
    """A root, and a child of it that waits for a worker."""
    one = tree([on(spawn("dig"), user="go"), on(FETCH, depth=1, turns=1), on(says="{user}!", depth=1), FINE])
    await one.say("go")
    return one, one.children[0]


async def test_an_interim_report_wakes_the_parent_and_the_child_goes_on() -> None:
    one = tree(
        [
            on(spawn("dig"), user="go"),
            on(says="waiting", **spawned()),
            on(_report(), **task("dig")),
            on(FETCH, tool_result="report_to_parent"),
            on(says="dug", depth=1),
            on(says="I see: {result}", event=True),
        ]
    )
    await one.say("go")
    (child,) = one.children
    assert (await one.lines())[-1] == "Asst(I see: half done)"
    assert [open_child.thread_id for open_child in (await one.state()).children] == [child]
    event = (await one.entries())[-2]
    assert isinstance(event, Event)
    assert (event.child_thread_id, event.name) == (child, "spawn_thread")
    assert event.args == {"instructions": "dig", "child_of": [ROOT]}
    await one.answer(child)
    assert (await one.lines())[-1] == "Asst(I see: dug)"


async def test_a_root_has_no_parent_to_report_to() -> None:
    one = tree([on(_report(), user="go"), FINE])
    await one.say("go")
    assert (await one.lines())[-2:] == ["Result(report_to_parent, error)", "Asst(fine)"]
    assert one.waiting() == []


@pytest.mark.parametrize("text", ["", " ", "x" * 300_000])
async def test_reports_and_messages_say_something_that_can_be_carried(text: str) -> None:
    one, child = await _waiting()
    one.model.play(
        on(_send(child, text), user="tell", depth=0), on(_report(text), user="tell", depth=1), FINE
    )
    await one.say("tell")
    await one.say("tell", child)
    assert "Result(send_message_to_child, error)" in await one.lines()
    assert "Result(report_to_parent, error)" in await one.lines(child)


async def test_a_parent_message_waits_for_what_the_child_works_on_and_joins_as_user_text() -> None:
    one, child = await _waiting()
    one.model.play(on(_send(child), user="tell", depth=0), on(says="{user}!", depth=1), FINE)
    await one.say("tell")
    assert (await one.lines(child))[-1].startswith("Call(fetch")
    assert len((await one.state(child)).deferred) == 1
    await one.answer(child)
    assert (await one.lines(child))[-3:] == ["Result(fetch, page)", "User(hurry)", "Asst(hurry!)"]
    assert one.told("worker:web") == [("tool_call", child)]


async def test_a_parent_message_wakes_a_child_that_only_waits_for_its_own_child() -> None:
    one = tree(
        [
            on(spawn("lead"), user="go"),
            on(spawn("dig"), **task("lead")),
            on(FETCH, **task("dig")),
            on(says="waiting", **spawned(1)),
            on(says="told: {user}", user="hurry"),
            FINE,
        ]
    )
    await one.say("go")
    child = one.children[0]
    one.model.play(on(_send(child), user="tell"), on(says="told: {user}", user="hurry"), FINE)
    await one.say("tell")
    assert (await one.lines(child))[-2:] == ["User(hurry)", "Asst(told: hurry)"]
    assert not (await one.state(child)).closed


@pytest.mark.parametrize("thread_id", ["t1~nobody", "t2", ROOT])
async def test_a_message_to_what_is_no_open_child_is_an_error(thread_id: str) -> None:
    one, child = await _waiting()
    one.model.play(on(_send(thread_id), user="tell"), FINE)
    await one.say("tell")
    assert (await one.lines())[-2:] == ["Result(send_message_to_child, error)", "Asst(fine)"]
    assert child in str((await one.entries())[-2])
    assert one.sent("parent_message") == []


async def test_a_message_that_meets_a_closed_child_comes_back_as_a_report() -> None:
    one, child = await _waiting()
    one.model.play(on(_send(child), user="tell"), on(says="seen: {result}", event=True), FINE)
    one.held.update({ROOT, child})
    await one.visit(one.message("user_message", content="tell"))
    await one.tell("cancel", child)
    one.held.clear()
    await one.rest()
    returned = [entry for entry in await one.entries() if isinstance(entry, Event)][-1]
    assert (returned.name, returned.child_thread_id) == ("send_message_to_child", child)
    assert "hurry" in (await one.lines())[-1]
    (message,) = one.sent("parent_message")
    before = await one.lines()
    await one.deliver(message)
    await one.rest()
    assert await one.lines() == before


async def test_a_message_to_an_unknown_child_comes_back_too() -> None:
    one, _ = await _waiting()
    before = len(await one.lines())
    lost = one.message("parent_message", "t1~nobody", parent=ROOT, call_id="call_x", text="hurry")
    assert (await one.visit(lost)).inputs == ("returned",)
    await one.rest()
    event, answer = (await one.lines())[before:]
    assert "hurry" in event
    assert answer == "Asst(fine)"
    assert await one.lines("t1~nobody") == []


async def test_a_message_that_comes_back_twice_comes_back_the_same_whatever_became_of_its_child() -> None:
    one, _ = await _waiting()
    lost = one.message("parent_message", "t1~later", parent=ROOT, call_id="call_x", text="hurry")
    await one.visit(lost)
    begun = {"ancestors": [ROOT], "child_kind": "spawned", "call_id": "call_x", "credit": 9, "opening": []}
    at = one.world.clock.now().isoformat()
    await one.visit(one.message("spawn", "t1~later", spawned_at=at, **begun), completing=False)
    await one.visit(lost)
    back = [message for message in one.world.dispatcher.sent if "hurry" in message.body]
    assert len(back) == 2
    assert back[0] == back[1]
