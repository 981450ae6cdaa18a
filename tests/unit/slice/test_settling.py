"""Invariant *settle before next* when messages cannot be sent: carried on, answered, or counted."""

import asyncio
from datetime import timedelta

import pytest

from core.commit import Commit
from core.errors import NotSettled, StoreUnavailable
from core.outbox import Carried, SendWake
from core.ports import LoadedThread, Outgoing
from infra.memory import MemoryClock, MemoryStore
from tests.support.faulty import FaultyStore
from tests.support.inputs import THREAD, close, delivered, result, user
from tests.support.played import calls, says
from tests.support.world import START, WEB, World, world

FETCH = ("fetch", {"url": "u"})


async def _log(one: World) -> LoadedThread:
    return await one.store.load(THREAD)


async def _last(one: World) -> Commit:
    last = (await _log(one)).last
    assert last is not None
    return last


async def _is_settled(one: World) -> bool:
    return (await _log(one)).tip == (await _last(one)).number


async def test_a_dispatch_that_does_not_succeed_for_hours_is_carried_with_a_wake_that_comes_back() -> None:
    one = world(calls(FETCH))
    one.dispatcher.slow = {WEB}
    report = await one.run(user("go"))
    assert (report.inputs, report.commits) == (("accepted",), 2)
    last = await _last(one)
    wake = one.dispatcher.internal[-1]
    assert [type(message) for message in last.outbox] == [Carried, SendWake]
    assert (await one.state()).wake is not None
    assert not await _is_settled(one)

    one.dispatcher.slow = set()
    one.clock.advance(5)
    await one.run(delivered(wake))
    (sent,) = one.dispatcher.once(WEB)
    (carried,) = [message for message in last.outbox if isinstance(message, Carried)]
    assert sent.id == carried.id
    assert await _is_settled(one)
    assert (await one.state()).wake is None
    assert await one.lines() == ["User(go)", 'Call(fetch, {"url": "u"})']


async def test_the_next_commit_carries_old_messages_ahead_of_its_own() -> None:
    one = world(calls(FETCH), calls(("fetch", {"url": "v"})))
    one.dispatcher.slow = {WEB}
    await one.run(user("go"))
    await one.run(user("no, v", "m2"))
    one.dispatcher.slow = set()
    await one.run(user("hm", "m3", on_busy="queue"))
    kinds = [(body["type"], body.get("args", {}).get("url")) for body in one.dispatcher.bodies(WEB)]
    assert kinds == [("tool_call", "u"), ("tool_cancel", None), ("tool_call", "v")]
    assert await _is_settled(one)


async def test_nothing_is_acknowledged_if_nobody_would_come_back() -> None:
    one = world(calls(FETCH))
    one.dispatcher.slow = {WEB, "delay"}
    with pytest.raises(NotSettled):
        await one.run(user("go"))
    with pytest.raises(NotSettled):
        await one.run(user("go"))
    one.dispatcher.slow = set()
    report = await one.run(user("go"))
    assert report.inputs == ("duplicate",)
    assert len(one.model.requests) == 1
    assert [body["args"] for body in one.dispatcher.bodies(WEB)] == [{"url": "u"}]
    assert await _is_settled(one)


async def test_a_broken_output_queue_does_not_keep_a_thread_from_going_on() -> None:
    one = world(says("one"), says("two"))
    one.dispatcher.slow = {"output"}
    await one.run(user("1"))
    await one.run(user("2", "m2"))
    assert (await one.lines())[-1] == "Asst(two)"
    assert one.dispatcher.outputs == []
    assert len(one.dispatcher.internal) == 1
    one.dispatcher.slow = set()
    await one.run(user("1"))
    assert [output["text"] for output in one.dispatcher.outputs] == ["one", "two"]


async def test_the_wake_that_comes_back_waits_longer_each_time() -> None:
    one = world(says("one"))
    one.dispatcher.slow = {"output"}
    await one.run(user("1"))
    delays = []
    for _ in range(10):
        wake = (await one.state()).wake
        assert wake is not None
        assert wake.due_at is not None
        delays.append((wake.due_at - one.clock.now()).total_seconds())
        one.clock.advance(delays[-1])
        await one.run(delivered(one.dispatcher.internal[-1]))
    assert delays == [5, 10, 20, 40, 80, 160, 320, 640, 900, 900]


async def test_a_resend_wake_also_comes_back_for_a_closed_thread() -> None:
    one = world(says("one"))
    one.dispatcher.slow = {"output"}
    await one.run(user("1"))
    await one.run(close())
    one.clock.advance(900)
    came = one.dispatcher.internal[-1]
    await one.run(delivered(came))
    wake = (await one.state()).wake
    assert wake is not None
    assert wake.id != came.id
    one.dispatcher.slow = set()
    one.clock.advance(900)
    await one.run(delivered(one.dispatcher.internal[-1]))
    assert [output["type"] for output in one.dispatcher.outputs] == ["assistant_message"]
    assert await _is_settled(one)


async def test_a_dispatch_that_can_never_succeed_answers_its_call_with_an_error_and_the_model_goes_on() -> (
    None
):
    one = world(calls(FETCH, ("echo", {"text": "hi"})), says("without it"))
    one.dispatcher.gone = {WEB}
    report = await one.run(user("go"))
    assert report.rounds == 2
    assert (await one.lines())[-2:] == ["Result(fetch, error)", "Asst(without it)"]
    first = (await one.store.entries(THREAD))[1]
    assert first.kind == "tool_call"
    assert await one.live() == []
    assert await _is_settled(one)


async def test_a_carried_call_that_turns_out_to_be_undeliverable_is_answered_too() -> None:
    one = world(calls(FETCH), says("without it"))
    one.dispatcher.slow = {WEB}
    await one.run(user("go"))
    one.dispatcher.slow, one.dispatcher.gone = set(), {WEB}
    one.clock.advance(5)
    await one.run(delivered(one.dispatcher.internal[-1]))
    assert (await one.lines())[-2:] == ["Result(fetch, error)", "Asst(without it)"]
    assert await _is_settled(one)


async def test_an_output_that_can_never_be_sent_is_counted_and_blocks_nothing() -> None:
    one = world(says("one"), says("two"))
    one.dispatcher.gone = {"output"}
    report = await one.run(user("1"))
    assert len(report.lost_outputs) == 1
    assert report.commits == 1
    assert await _is_settled(one)
    one.dispatcher.gone = set()
    again = await one.run(user("2", "m2"))
    assert again.lost_outputs == ()
    assert [output["text"] for output in one.dispatcher.outputs] == ["two"]


async def test_our_own_wakes_and_timers_are_tried_again_whatever_the_error() -> None:
    one = world(calls(FETCH))
    one.dispatcher.gone = {"delay"}
    with pytest.raises(NotSettled):
        await one.run(user("go"))
    one.dispatcher.gone = set()
    await one.run(user("go"))
    state = await one.state()
    assert state.timer is not None
    assert state.timer.id in {message.id for message in one.dispatcher.internal}


async def test_every_message_of_a_carried_commit_keeps_its_due_instant() -> None:
    one = world(calls(FETCH))
    one.dispatcher.slow = {"delay"}
    with pytest.raises(NotSettled):
        await one.run(user("go"))
    one.dispatcher.slow = set()
    one.clock.advance(100)
    (call_id,) = await one.live()
    await one.run(result(call_id.replace("call", "no")))
    timers = [message for message in one.dispatcher.internal if '"timer"' in message.body]
    assert {message.due_at for message in timers} == {START + timedelta(seconds=600)}


async def test_a_slice_whose_markers_fail_leaves_nothing_running_behind() -> None:
    store = FaultyStore(MemoryStore(MemoryClock(START)))
    store.before["mark"] = StoreUnavailable("down")
    one, ended = world(says("hi"), store=store), list[str]()

    async def slowly(message: Outgoing) -> None:
        later = asyncio.Event()
        asyncio.get_running_loop().call_soon(later.set)
        await later.wait()
        ended.append(message.id)

    one.dispatcher.on_send = slowly
    with pytest.raises(StoreUnavailable):
        await one.run(user("go"))
    assert len(ended) == 1
