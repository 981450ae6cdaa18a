"""The deadline timer: one per thread at the earliest deadline, armed again, and harmless when early, late or twice."""

from datetime import datetime, timedelta

import pytest

from core.outbox import SendTimer
from core.ports import Outgoing
from tests.support.faulty import Crash
from tests.support.inputs import THREAD, cancel, delivered, result, user
from tests.support.played import calls, says
from tests.support.world import START, WEB, World, world

FETCH = ("fetch", {"url": "u"})  # has 600 s
DIG = ("dig", {"depth": 1})  # has 60 s


def _due(seconds: int) -> datetime:
    return START + timedelta(seconds=seconds)


async def _waiting() -> World:
    """Both calls live; the model will answer when they are."""
    one = world(calls(FETCH, DIG), says("done"))
    await one.run(user("go"))
    return one


def _timers(one: World) -> list[Outgoing]:
    return [message for message in one.dispatcher.internal if '"type":"timer"' in message.body]


async def test_one_timer_is_armed_at_the_earliest_deadline() -> None:
    one = await _waiting()
    (timer,) = _timers(one)
    assert (timer.queue, timer.due_at, timer.group) == ("delay", _due(60), THREAD)
    pending = (await one.state()).timer
    assert pending is not None
    assert (pending.id, pending.due_at) == (timer.id, _due(60))


async def test_a_due_timer_times_out_what_is_overdue_and_is_armed_for_the_rest() -> None:
    one = await _waiting()
    fetched, _ = await one.live()
    one.clock.advance(60)
    report = await one.run(delivered(_timers(one)[0]))
    assert (report.inputs, report.rounds) == (("accepted",), 0)
    assert (await one.lines())[-1] == "Result(dig, timed_out)"
    assert await one.live() == [fetched]
    assert one.dispatcher.bodies(WEB)[-1]["type"] == "tool_cancel"
    _, second = _timers(one)
    assert second.due_at == _due(600)
    one.clock.advance(540)
    await one.run(delivered(second))
    assert (await one.lines())[-2:] == ["Result(fetch, timed_out)", "Asst(done)"]
    assert (await one.state()).timer is None


async def test_a_timer_that_comes_early_is_armed_again_under_a_new_id() -> None:
    one = await _waiting()
    one.clock.advance(59)
    await one.run(delivered(_timers(one)[0]))
    first, second = _timers(one)
    assert first.id != second.id
    assert second.due_at == _due(60)
    pending = (await one.state()).timer
    assert pending is not None
    assert pending.id == second.id
    assert len(await one.live()) == 2


async def test_a_timer_whose_call_is_answered_is_armed_for_the_rest_when_it_comes() -> None:
    one = await _waiting()
    _, dug = await one.live()
    await one.run(result(dug))
    assert len(_timers(one)) == 1
    one.clock.advance(60)
    await one.run(delivered(_timers(one)[0]))
    assert "timed_out" not in str(await one.lines())
    assert _timers(one)[-1].due_at == _due(600)


async def test_a_timer_that_is_not_the_pending_one_does_nothing() -> None:
    one = await _waiting()
    old = delivered(_timers(one)[0])
    await one.run(old)
    one.clock.advance(3600)
    report = await one.run(old)
    assert (report.inputs, report.commits) == (("stale",), 0)
    assert len(await one.live()) == 2


@pytest.mark.parametrize("how", ["answered", "cancelled"])
async def test_a_timer_that_nobody_waits_for_any_more_does_nothing(how: str) -> None:
    one = await _waiting()
    ids = await one.live()
    await one.run(*([cancel()] if how == "cancelled" else [result(call_id) for call_id in ids]))
    before = await one.lines()
    one.clock.advance(60)
    report = await one.run(delivered(_timers(one)[0]))
    assert (report.rounds, await one.lines()) == (0, before)
    assert (await one.state()).timer is None
    report = await one.run(delivered(_timers(one)[0]))
    assert (report.inputs, report.commits) == (("stale",), 0)


async def test_a_timer_is_lost_or_doubled_and_is_sent_again_under_its_id_and_fires_once() -> None:
    one = world(calls(DIG), says("done"))
    lost = [True]

    async def lose_the_timer(message: Outgoing) -> None:
        if message.queue == "delay" and lost.pop():
            raise Crash

    one.dispatcher.on_send = lose_the_timer
    with pytest.raises(BaseExceptionGroup):
        await one.run(user("go"))
    lost.append(False)
    await one.run(user("go"))
    (timer,) = _timers(one)
    one.clock.advance(60)
    first = await one.run(delivered(timer))
    second = await one.run(delivered(timer))
    assert (first.inputs, second.inputs) == (("accepted",), ("stale",))
    assert (await one.lines())[-2:] == ["Result(dig, timed_out)", "Asst(done)"]


async def test_a_timed_out_call_whose_result_comes_late_stays_timed_out() -> None:
    one = await _waiting()
    _, dug = await one.live()
    one.clock.advance(60)
    await one.run(delivered(_timers(one)[0]))
    report = await one.run(result(dug, "late"))
    assert report.inputs == ("stale",)
    assert (await one.lines())[-1] == "Result(dig, timed_out)"


async def test_deferred_text_joins_when_the_last_call_times_out() -> None:
    one = world(calls(DIG), says("both"))
    await one.run(user("go"))
    await one.run(user("and this", "m2", on_busy="queue"))
    one.clock.advance(60)
    await one.run(delivered(_timers(one)[0]))
    assert (await one.lines())[-3:] == ["Result(dig, timed_out)", "User(and this)", "Asst(both)"]


async def test_a_turn_arms_one_timer_however_many_calls_it_has() -> None:
    one = world(calls(FETCH, DIG, FETCH, DIG, ("echo", {"text": "hi"})))
    await one.run(user("go"))
    last = (await one.store.load(THREAD)).last
    assert last is not None
    assert [message.due_at for message in last.outbox if isinstance(message, SendTimer)] == [_due(60)]
