"""The `Dispatcher` contract for what is due later than a queue can delay it: over the scheduler and in memory."""

from datetime import UTC, datetime, timedelta

import pytest

from core.ports import Outgoing
from tests.contract.dispatchers import FOR_EVER, START, MemoryRigs, Rigs, SqsRigs, message, takes_back

WEEK = timedelta(days=7)


@pytest.fixture(params=["memory", "sqs"])
def rigs(request: pytest.FixtureRequest) -> Rigs:
    if request.param == "memory":
        return MemoryRigs()
    return SqsRigs(request.getfixturevalue("aws_endpoint"))


def timer(name: str = "timer", due_in: timedelta = WEEK) -> Outgoing:
    return message("delay", name, "t1", due_at=START + due_in)


@pytest.mark.parametrize(
    ("due_in_seconds", "fires_at"),
    [
        (900.001, "2025-01-01T00:13:00.000000"),
        (3_600.999, "2025-01-01T00:58:00.000000"),
        (7 * 86_400, "2025-01-07T23:58:00.000000"),
        (3_660 * 86_400, "2035-01-08T23:58:00.000000"),
    ],
)
async def test_what_is_due_after_900_seconds_is_a_schedule_two_minutes_early_at_a_whole_second(
    rigs: Rigs, due_in_seconds: float, fires_at: str
) -> None:
    async with rigs.open() as rig:
        assert await rig.dispatcher.send([timer(due_in=timedelta(seconds=due_in_seconds))]) == ()
        assert await rig.scheduled() == {"id-timer": fires_at}
        assert await rig.arrived("delay") == []


async def test_sent_again_it_is_one_schedule_that_stays_as_it_was(rigs: Rigs) -> None:
    async with rigs.open() as rig:
        assert await rig.dispatcher.send([timer()]) == ()
        rig.clock.advance(3_600)
        assert await rig.dispatcher.send([timer(), timer("other")]) == ()
        assert list(await rig.scheduled()) == ["id-other", "id-timer"]


async def test_what_was_a_schedule_and_is_nearly_due_when_sent_again_goes_through_the_queue(
    rigs: Rigs,
) -> None:
    async with rigs.open() as rig:
        assert await rig.dispatcher.send([timer(due_in=timedelta(seconds=1_000))]) == ()
        rig.clock.advance(100)
        assert await rig.dispatcher.send([timer(due_in=timedelta(seconds=1_000))]) == ()
        assert await rig.delay_seconds("timer") == 900


async def test_taken_back_it_is_gone_and_what_never_was_can_be_taken_back(rigs: Rigs) -> None:
    async with rigs.open() as rig:
        assert await rig.dispatcher.send([timer(), timer("other")]) == ()
        assert await rig.dispatcher.send([takes_back("timer"), takes_back("nothing")]) == ()
        assert list(await rig.scheduled()) == ["id-other"]
        assert await rig.dispatcher.send([takes_back("timer")]) == ()


async def test_made_and_taken_back_by_one_outbox_it_is_gone(rigs: Rigs) -> None:
    async with rigs.open() as rig:
        assert await rig.dispatcher.send([timer(), takes_back("timer"), timer("next")]) == ()
        assert list(await rig.scheduled()) == ["id-next"]


async def test_a_schedule_that_fails_is_tried_again_and_holds_up_no_queue_and_no_output(rigs: Rigs) -> None:
    async with rigs.open() as rig:
        rig.faults.fail("timer", times=2)
        rig.faults.fail("id-old")
        outbox = [timer(), takes_back("old"), message("input", "wake", "t1"), message("output", "out", "t1")]
        assert await rig.dispatcher.send(outbox) == ()
        assert rig.faults.tries.count("timer") == 3
        assert rig.faults.tries.count("id-old") == 2
        assert rig.faults.tries[-1] == "out"
        assert list(await rig.scheduled()) == ["id-timer"]


async def test_a_scheduler_that_does_not_answer_leaves_its_messages_for_later_and_no_others(
    rigs: Rigs,
) -> None:
    async with rigs.open() as rig:
        rig.faults.fail("timer", FOR_EVER)
        soon = message("delay", "soon", "t1", due_at=START + timedelta(seconds=60))
        unsent = await rig.dispatcher.send([timer(), soon, message("output", "out", "t1")])
        assert [(left.message, left.permanent) for left in unsent] == [(timer(), False)]
        assert await rig.arrived("output") == ["out"]
        rig.faults.fail("timer", 0)
        assert await rig.dispatcher.send([left.message for left in unsent]) == ()
        assert list(await rig.scheduled()) == ["id-timer"]


@pytest.mark.parametrize(
    "impossible",
    [
        Outgoing("i" * 65, "delay", '{"name": "long"}', "t1", START + WEEK),
        Outgoing("", "delay", '{"name": "none"}', "t1", START + WEEK),
        Outgoing("two words", "delay", '{"name": "blank"}', "t1", START + WEEK),
        Outgoing("id", "delay", '{"name": "' + "x" * 262_144 + '"}', "t1", START + WEEK),
        Outgoing("id", "delay", '{"name": "\x00"}', "t1", START + WEEK),
        Outgoing("id", "delay", '{"name": "late"}', "t1", datetime(2200, 1, 2, tzinfo=UTC)),
        Outgoing("id", "unschedule", "two words"),
    ],
    ids=["long name", "no name", "blank", "too large", "NUL", "too late", "taking back"],
)
async def test_what_can_never_be_scheduled_is_told_apart_and_stops_nothing(
    rigs: Rigs, impossible: Outgoing
) -> None:
    async with rigs.open() as rig:
        unsent = await rig.dispatcher.send([impossible, timer(), message("output", "out", "t1")])
        assert [(left.message, left.permanent) for left in unsent] == [(impossible, True)]
        assert list(await rig.scheduled()) == ["id-timer"]
        assert await rig.arrived("output") == ["out"]
        assert rig.clock.now() == START
