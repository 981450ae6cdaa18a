"""What one sender can do to others, held to its bound (docs/security.md, "Hostile tenants"): floods, forged words."""

from typing import Any

import pytest

from core.accept import Setting
from core.accept.waiting import MAX_WAITING_BYTES, require_room_to_wait
from core.agent import Agent
from core.blocks import text_content
from core.delivery import DELAY
from core.entries import User
from core.errors import Refused
from core.history.checkpoints import COMMITS
from core.messages import Envelope
from core.parsing import parse_input
from core.slice import SliceReport, run_slice
from core.state.shape import MAX_STATE_BYTES
from core.text import wire_json
from core.thread import Deferred, ThreadState
from infra.memory import MemoryStore
from tests.support.inputs import THREAD, cancel, delivered, message, result, user
from tests.support.played import calls, says
from tests.support.principals import AGENT, ALICE, MAIL, POLICY, WEB, session
from tests.support.rules import FETCH, on, spawn, task
from tests.support.stateful import noting
from tests.support.tree import ROOT, tree
from tests.support.world import START, World, agent, world

MEGABYTE = "x" * 1_000_000


async def said_by(one: World, sender: str, thread_id: str = THREAD, /, **body: Any) -> SliceReport:
    """A slice over one message of this sender, with the check on."""
    text = wire_json({"thread_id": thread_id, "message_id": "forged", **body})
    taken = parse_input(text, Envelope("sqs", thread_id, sender=sender))
    return await run_slice(one.app, one.ports, thread_id, [taken], seconds_left=lambda: 900.0, senders=POLICY)


def codes(report: SliceReport) -> list[str]:
    """What became of each input: the code of a refusal."""
    return [one.code if isinstance(one, Refused) else one for one in report.inputs]


def kept(one: World) -> MemoryStore:
    assert isinstance(one.store, MemoryStore)
    return one.store


@pytest.mark.parametrize(("sender", "told"), [(ALICE, 1), (session(AGENT), 0)])
async def test_a_child_that_a_person_closes_in_its_parents_name_is_told_to_its_parent_all_the_same(
    sender: str, told: int
) -> None:
    one = tree([on(spawn("lead"), user="go"), on(FETCH, **task("lead")), on(says="fine", depth=0)])
    await one.say("go")
    (child,) = one.children
    assert codes(await said_by(one.world, sender, child, type="close", closed_by=ROOT)) == ["accepted"]
    await one.rest()
    assert ((await one.state(child)).closed, (await one.state()).children) == (True, ())
    assert sum(line.startswith("Event(") for line in await one.lines()) == told


def test_what_waits_for_a_live_call_is_bounded_in_bytes_too() -> None:
    large, small = User(content=text_content(MEGABYTE)), User(content=text_content("small"))
    most = MAX_WAITING_BYTES // len(MEGABYTE)
    waiting = (Deferred(entry=large, message_id="m"),) * most
    setting = Setting(agent=agent(), now=START)
    require_room_to_wait(large, ThreadState(deferred=waiting[1:]), setting)
    require_room_to_wait(small, ThreadState(deferred=waiting), setting)
    with pytest.raises(Refused, match=f"{most} inputs wait") as refusal:
        require_room_to_wait(large, ThreadState(deferred=waiting), setting)
    assert refusal.value.code == "busy"


async def test_a_flood_of_cancels_leaves_a_log_that_is_read_as_fast_as_before() -> None:
    one = world(says("hello"))
    await one.run(user("hi"))
    for number in range(COMMITS + 5):
        await one.run(cancel(f"c{number}"))
    state = await one.state()
    assert state.number - state.from_number < 10
    assert await one.lines() == ["User(hi)", "Asst(hello)"]
    assert len(one.model.requests) == 1


async def test_a_flood_of_results_events_and_questions_that_nobody_waits_for_writes_and_sends_nothing() -> (
    None
):
    one = world(says("hello"))
    await one.run(user("hi"))
    commits, sent = len(kept(one).commits(THREAD)), len(one.dispatcher.outputs)
    for number in range(20):
        head = {"call_id": f"call_{number}"}
        for taken in (
            result(f"call_{number}"),
            message("subscription_event", f"e{number}", content="news", **head),
            message("question", f"q{number}", kind="auth", url="https://x.example", **head),
        ):
            assert codes(await one.run(taken)) == ["stale"]
    assert (len(kept(one).commits(THREAD)), len(one.dispatcher.outputs)) == (commits, sent)
    assert await kept(one).parked() == ()


async def test_a_flood_of_refused_bodies_is_parked_once_each_and_begins_no_thread() -> None:
    one = world()
    for _ in range(2):
        for number in range(20):
            report = await one.run(message("answer", f"a{number}", call_id="call_x", approved=True))
            assert codes(report) == ["unknown_thread"]
    assert len(await kept(one).parked(1000)) == 20
    assert len({body["output_id"] for body in one.dispatcher.outputs}) == 20
    assert kept(one).commits(THREAD) == ()


@pytest.mark.parametrize("sender", [session(MAIL), ALICE])
async def test_a_worker_changes_the_state_of_no_call_but_its_own(sender: str) -> None:
    one = world(calls(FETCH), says("done"), app=noting())
    await one.run(user("go"))
    (call_id,) = await one.live()
    patch: dict[str, Any] = {
        "type": "tool_result",
        "call_id": call_id,
        "content": "x",
        "state_patch": {"count": 666},
    }
    assert codes(await said_by(one, sender, **patch)) == ["forbidden"]
    assert (await one.state()).stored_state is None
    elsewhere = await said_by(one, session(WEB), "t2", **patch)
    assert codes(elsewhere) == ["stale"]
    assert kept(one).commits("t2") == ()
    assert codes(await said_by(one, session(WEB), **patch)) == ["accepted"]
    assert ((await one.state()).stored_state or {})["count"] == 666


async def test_a_message_under_the_id_of_one_of_torpors_own_takes_nothing_from_it() -> None:
    one = world(calls(FETCH), says("done"))
    await one.run(user("go"))
    timer = (await one.state()).timer
    assert timer is not None
    text: dict[str, Any] = {
        "type": "user_message",
        "content": "also",
        "on_busy": "queue",
        "message_id": timer.id,
    }
    assert codes(await said_by(one, ALICE, **text)) == ["accepted"]
    one.clock.advance(600)
    (sent,) = one.dispatcher.once(DELAY)
    assert codes(await one.run(delivered(sent))) == ["accepted"]
    assert (await one.lines())[-3:] == ["Result(fetch, timed_out)", "User(also)", "Asst(done)"]


@pytest.mark.parametrize("app", [noting(), agent()], ids=["a state type", "none"])
async def test_a_state_that_patches_would_make_too_large_stays_as_it_was(app: Agent) -> None:
    one = world(calls(FETCH, FETCH), says("done"), app=app)
    await one.run(user("go"))
    first, second = await one.live()
    half = "x" * (MAX_STATE_BYTES // 2)
    await one.run(result(first, state_patch={"notes": [half]}))
    before = (await one.state()).stored_state
    await one.run(result(second, state_patch={"notes": [half, half]}))
    assert (await one.state()).stored_state == before
    assert (await one.lines())[-2:] == ["Result(fetch, error)", "Asst(done)"]
