"""The in-memory schedules do what EventBridge Scheduler does, by the clock alone: once each, in order, or never."""

from datetime import UTC, datetime, timedelta

import pytest

from infra.memory import MemoryClock, MemoryQueues, MemorySchedule, MemorySchedules
from infra.queue_errors import Unsendable

START = datetime(2025, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock() -> MemoryClock:
    return MemoryClock(START)


@pytest.fixture
def queues(clock: MemoryClock) -> MemoryQueues:
    queues = MemoryQueues(clock)
    queues.create("delay")
    return queues


@pytest.fixture
def schedules(queues: MemoryQueues, clock: MemoryClock) -> MemorySchedules:
    return MemorySchedules(queues, clock)


def schedule(name: str, days: int, body: str = "") -> MemorySchedule:
    return MemorySchedule(name, START + timedelta(days=days), "delay", body or name)


def test_each_fires_once_when_it_is_due_and_is_gone(
    schedules: MemorySchedules, queues: MemoryQueues, clock: MemoryClock
) -> None:
    for name, days in (("week", 7), ("day", 1), ("month", 30)):
        schedules.create(schedule(name, days))
    assert schedules.next_fires_at() == START + timedelta(days=1)
    assert schedules.fire_due() == 0
    clock.advance(7 * 86_400)
    assert schedules.fire_due() == 2
    assert schedules.fire_due() == 0
    assert queues.bodies("delay") == ["day", "week"]
    assert [one.name for one in schedules.pending()] == ["month"]


def test_the_first_of_a_name_stays_until_it_fires_or_is_deleted(
    schedules: MemorySchedules, queues: MemoryQueues, clock: MemoryClock
) -> None:
    schedules.create(schedule("one", 1, "first"))
    schedules.create(schedule("one", 2, "second"))
    clock.advance(86_400)
    assert schedules.fire_due() == 1
    assert queues.bodies("delay") == ["first"]
    schedules.create(schedule("one", 2, "third"))
    schedules.delete("one")
    schedules.delete("one")
    clock.advance(86_400)
    assert schedules.fire_due() == 0
    assert schedules.next_fires_at() is None


@pytest.mark.parametrize(
    "impossible",
    [
        schedule("n" * 65, 1),
        schedule("ä", 1),
        schedule("one", 1, "x" * 262_145),
        schedule("one", 80_000),
        MemorySchedule("one", START, "gone", "body"),
    ],
    ids=["long name", "name", "body", "year", "queue"],
)
def test_what_the_scheduler_would_not_take_is_not_taken(
    schedules: MemorySchedules, impossible: MemorySchedule
) -> None:
    with pytest.raises(Unsendable):
        schedules.create(impossible)
    assert schedules.pending() == ()
