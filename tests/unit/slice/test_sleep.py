"""The sleep family: a passive call that costs nothing while it waits, and ends when its time comes, once."""

from datetime import timedelta
from typing import Any

import pytest

from core.delivery import DELAY, UNSCHEDULE
from core.ports import Outgoing
from tests.support.inputs import close, delivered, result, user
from tests.support.played import calls, says
from tests.support.rules import Call
from tests.support.world import START, WEB, World, world

MINUTE = ("sleep", {"seconds": 60})
HOUR = ("sleep", {"seconds": 3600})
EVER: Call = ("sleep_until_event_or_input", {})
ECHO = ("echo", {"text": "hi"})
DIG = ("dig", {"depth": 1})  # has 60 s


def _timers(one: World) -> list[Outgoing]:
    return one.dispatcher.once(DELAY)


async def _wake(one: World, seconds: float) -> None:
    """The time comes: the newest timer is delivered."""
    one.clock.advance(seconds)
    await one.run(delivered(_timers(one)[-1]))


async def test_a_thread_that_sleeps_is_one_timer_and_rows_and_goes_on_when_its_time_comes() -> None:
    one = world(calls(MINUTE), says("good morning"))
    report = await one.run(user("sleep"))
    assert (report.rounds, report.commits) == (1, 1)
    (timer,) = one.dispatcher.sent
    assert (timer.queue, timer.due_at) == (DELAY, START + timedelta(seconds=60))
    state = await one.state()
    assert (state.working, state.runnable, state.waiting, state.wake) == (False, False, True, None)
    one.clock.advance(60)
    report = await one.run(delivered(timer))
    assert (report.inputs, report.rounds) == (("accepted",), 1)
    assert (await one.lines())[-2:] == ["Result(sleep, The time has come.)", "Asst(good morning)"]
    assert (await one.state()).timer is None
    assert one.dispatcher.once(DELAY) == [timer]


@pytest.mark.parametrize("when", ["early", "late", "twice"])
async def test_a_timer_that_is_early_late_or_double_ends_a_sleep_once(when: str) -> None:
    one = world(calls(MINUTE), says("good morning"))
    await one.run(user("sleep"))
    if when == "early":
        one.clock.advance(59)
        await one.run(delivered(_timers(one)[0]))
        assert len(await one.live()) == 1
        assert _timers(one)[-1].due_at == START + timedelta(seconds=60)
    await _wake(one, 86_400 if when == "late" else 60)
    if when == "twice":
        again = await one.run(delivered(_timers(one)[-1]))
        assert (again.inputs, again.commits) == (("stale",), 0)
    assert (await one.lines())[-2:] == ["Result(sleep, The time has come.)", "Asst(good morning)"]


@pytest.mark.parametrize("seconds", [0, -5, -86_400])
async def test_an_instant_that_is_past_ends_the_sleep_at_once(seconds: int) -> None:
    one = world(calls(("sleep", {"seconds": seconds})), says("awake"))
    report = await one.run(user("sleep"))
    assert report.rounds == 2
    assert (await one.lines())[-1] == "Asst(awake)"
    assert _timers(one) == []


@pytest.mark.parametrize("seconds", [1e30, -1e30, "NaN", float("inf"), "soon", None])
async def test_a_number_of_seconds_that_is_none_is_told_and_nobody_sleeps(seconds: Any) -> None:
    one = world(calls(("sleep", {"seconds": seconds})), says("then not"))
    await one.run(user("sleep"))
    assert (await one.lines())[-2:] == ["Result(sleep, error)", "Asst(then not)"]
    assert _timers(one) == []


async def test_a_sleep_until_something_comes_needs_no_timer() -> None:
    one = world(calls(EVER), says("you came"))
    await one.run(user("sleep"))
    assert one.dispatcher.sent == []
    assert (await one.state()).waiting
    await one.run(user("hello", "m2"))
    assert (await one.lines())[-3:] == [
        "Result(sleep_until_event_or_input, interrupted)",
        "User(hello)",
        "Asst(you came)",
    ]


async def test_next_to_inline_calls_it_really_sleeps() -> None:
    one = world(calls(ECHO, MINUTE, ECHO), says("good morning"))
    report = await one.run(user("sleep"))
    assert report.rounds == 1
    assert (await one.lines())[-2:] == ["Result(echo, hi)", "Result(echo, hi)"]
    await _wake(one, 60)
    assert (await one.lines())[-2:] == ["Result(sleep, The time has come.)", "Asst(good morning)"]
    names = [line.partition(":")[0] for line in one.model.last_results]
    assert names == ["echo", "sleep", "echo"]


async def test_of_two_sleeps_the_longer_one_holds() -> None:
    one = world(calls(MINUTE, HOUR), says("good morning"))
    await one.run(user("sleep"))
    await _wake(one, 60)
    assert (await one.lines())[-1] == "Result(sleep, The time has come.)"
    assert _timers(one)[-1].due_at == START + timedelta(hours=1)
    await _wake(one, 3540)
    assert (await one.lines())[-1] == "Asst(good morning)"


async def test_the_last_result_rouses_what_only_waits_and_no_earlier_one_does() -> None:
    one = world(calls(DIG, HOUR, DIG), says("done"))
    await one.run(user("go"))
    first, _, second = await one.live()
    report = await one.run(result(first))
    assert (report.rounds, len(await one.live())) == (0, 2)
    report = await one.run(result(second))
    assert report.rounds == 1
    assert (await one.lines())[-3:] == ["Result(dig, out)", "Result(sleep, interrupted)", "Asst(done)"]


async def test_a_sleep_that_ends_before_its_sibling_wakes_nobody() -> None:
    one = world(calls(("sleep", {"seconds": 10}), DIG), says("done"))
    await one.run(user("go"))
    await _wake(one, 10)
    assert (await one.lines())[-1] == "Result(sleep, The time has come.)"
    assert _timers(one)[-1].due_at == START + timedelta(seconds=60)
    await one.run(result((await one.live())[0]))
    assert (await one.lines())[-1] == "Asst(done)"


async def test_a_deadline_rouses_what_only_waits_and_what_is_due_then_has_ended_by_itself() -> None:
    one = world(calls(DIG, MINUTE, HOUR), says("done"))
    await one.run(user("go"))
    await _wake(one, 60)
    assert (await one.lines())[-4:] == [
        "Result(sleep, The time has come.)",
        "Result(dig, timed_out)",
        "Result(sleep, interrupted)",
        "Asst(done)",
    ]


async def test_a_call_that_can_never_be_delivered_rouses_too() -> None:
    one = world(calls(DIG, HOUR), says("sorry"))
    one.dispatcher.gone.add(WEB)
    await one.run(user("go"))
    assert (await one.lines())[-3:] == ["Result(dig, error)", "Result(sleep, interrupted)", "Asst(sorry)"]


async def test_a_timer_of_a_sleep_that_was_interrupted_does_nothing() -> None:
    one = world(calls(MINUTE), says("yes?"))
    await one.run(user("sleep"))
    await one.run(user("wake up", "m2"))
    before = await one.lines()
    one.clock.advance(60)
    assert (await one.run(delivered(_timers(one)[0]))).rounds == 0
    assert await one.lines() == before


@pytest.mark.parametrize(("call", "taken_back"), [(HOUR, 1), (MINUTE, 0)])
async def test_the_scheduled_timer_of_a_closed_thread_is_taken_back(call: Any, taken_back: int) -> None:
    one = world(calls(call))
    await one.run(user("sleep"))
    (timer,) = _timers(one)
    await one.run(close())
    assert [message.body for message in one.dispatcher.once(UNSCHEDULE)] == [timer.id] * taken_back
    state = await one.state()
    assert (state.timer, state.waiting) == (None, False)
    one.clock.advance(3600)
    late = await one.run(delivered(timer))
    assert (late.inputs, late.commits) == (("stale",), 0)


async def test_a_timer_of_a_thread_that_is_not_there_does_nothing() -> None:
    one = world(calls(MINUTE))
    await one.run(user("sleep"))
    orphan = delivered(_timers(one)[0])
    other = world()
    report = await other.run(orphan)
    assert (report.inputs, report.commits) == (("stale",), 0)
    assert await other.lines() == []


async def test_a_later_sleep_arms_the_timer_that_comes_first() -> None:
    one = world(calls(HOUR), calls(MINUTE), says("good morning"))
    await one.run(user("sleep"))
    await one.run(user("only a minute", "m2"))
    assert [timer.due_at for timer in _timers(one)] == [
        START + timedelta(hours=1),
        START + timedelta(minutes=1),
    ]
    assert [message.body for message in one.dispatcher.once(UNSCHEDULE)] == [_timers(one)[0].id]
    await _wake(one, 60)
    assert (await one.lines())[-1] == "Asst(good morning)"
