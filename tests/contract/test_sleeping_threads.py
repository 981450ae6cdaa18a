"""Threads asleep on the in-memory ports: each is a few records and one schedule, and wakes once at its instant."""

from dataclasses import dataclass, field
from datetime import timedelta

from core.app import App
from core.delivery import DELAY, INPUT, OUTPUT
from core.messages import Envelope, Input
from core.parsing import parse_input
from core.relay import relayed
from core.slice import SlicePorts, run_slice
from infra.memory import (
    MemoryClock,
    MemoryDispatcher,
    MemoryQueues,
    MemorySchedule,
    MemorySchedules,
    MemorySender,
    MemoryStore,
    QueueSettings,
)
from infra.queue_errors import QueueUnavailable, Unsendable
from tests.support.inputs import close, message
from tests.support.played import PlayedModel, calls, says
from tests.support.world import START, agent

THREADS = 200
WEEK_SECONDS = 7 * 86_400
QUEUES = (INPUT, OUTPUT, DELAY)


class UnsureSchedules(MemorySchedules):
    """Takes nothing while it is `down`, and takes nothing back while that is `denied`."""

    down = denied = False

    def create(self, schedule: MemorySchedule) -> None:
        if self.down:
            raise QueueUnavailable("down")
        super().create(schedule)

    def delete(self, name: str) -> None:
        if self.denied:
            raise Unsendable("denied")
        super().delete(name)


@dataclass
class Sleepers:
    """A deployment in memory, its queues pumped by hand."""

    clock: MemoryClock = field(default_factory=lambda: MemoryClock(START))
    model: PlayedModel = field(default_factory=PlayedModel)

    def __post_init__(self) -> None:
        self.store, self.queues = MemoryStore(self.clock), MemoryQueues(self.clock)
        for name in QUEUES:
            self.queues.create(name, QueueSettings(fifo=name != DELAY))
        self.schedules = UnsureSchedules(self.queues, self.clock)
        self.dispatcher = MemoryDispatcher(self.queues, self.schedules, self.clock)

    async def slice(self, taken: Input) -> None:
        ports = SlicePorts(self.store, self.dispatcher, lambda _: self.model, self.clock)
        await run_slice(App.of(agent()), ports, taken.message.thread_id, [taken], seconds_left=lambda: 60.0)

    async def fall_asleep(self, thread_id: str, seconds: int) -> None:
        self.model.play(calls(("sleep", {"seconds": seconds})))
        await self.slice(message("user_message", "m1", thread_id=thread_id, content="sleep"))

    async def run_on(self) -> None:
        """Move the clock from one instant to the next, until nothing waits."""
        await self.pump()
        while due := [*filter(None, (self.schedules.next_fires_at(), self.queues.next_visible_at(DELAY)))]:
            self.clock.advance((min(due) - self.clock.now()).total_seconds())
            await self.pump()

    async def pump(self) -> None:
        """Fire schedules, relay and run what is visible, until nothing is."""
        sender = MemorySender(self.queues, self.clock)
        while self.schedules.fire_due() or await self._received(sender):
            pass

    async def _received(self, sender: MemorySender) -> bool:
        delayed, waiting = self.queues.receive(DELAY, 10), self.queues.receive(INPUT, 10)
        for record in delayed:
            sender.send(relayed(record["body"], record["messageId"], self.clock.now()))
            self.queues.delete(DELAY, record["receiptHandle"])
        for record in waiting:
            group = record["attributes"]["MessageGroupId"]
            await self.slice(parse_input(record["body"], Envelope(record["messageId"], group)))
            self.queues.delete(INPUT, record["receiptHandle"])
        return bool(delayed or waiting)

    def waiting(self) -> list[int]:
        """Messages in each queue."""
        return [self.queues.count(name) for name in QUEUES]


async def test_two_hundred_sleep_for_a_week_as_rows_and_schedules_and_each_wakes_once_at_its_instant() -> (
    None
):
    on = Sleepers()
    for number in range(THREADS):
        await on.fall_asleep(f"t{number}", WEEK_SECONDS + number)
    for _ in range(7):
        assert on.waiting() == [0, 0, 0]
        assert len(on.schedules.pending()) == THREADS
        on.clock.advance((WEEK_SECONDS - 3_600) / 7)
        await on.pump()
    on.model.play(*[says("awake")] * THREADS)
    await on.run_on()
    assert on.waiting() == [0, THREADS, 0]
    assert on.model.turns == []
    for number in range(THREADS):
        commits = on.store.commits(f"t{number}")
        wakes_at = START + timedelta(seconds=WEEK_SECONDS + number)
        assert [commit.at for commit in commits][-1] == wakes_at
        assert sum(len(commit.entries) for commit in commits) == 4


async def test_a_schedule_that_cannot_be_made_is_carried_until_it_can_under_its_old_id() -> None:
    on = Sleepers()
    on.schedules.down = True
    await on.fall_asleep("t1", WEEK_SECONDS)
    timer = (await on.store.load("t1")).folded.state.timer
    assert timer is not None
    for _ in range(3):
        assert on.schedules.pending() == ()
        on.clock.advance(60)
        await on.pump()
    on.schedules.down = False
    on.clock.advance(60)
    await on.pump()
    assert [one.name for one in on.schedules.pending()] == [timer.id]
    on.model.play(says("awake"))
    await on.run_on()
    assert on.clock.now() == START + timedelta(seconds=WEEK_SECONDS)
    assert on.model.turns == []


async def test_a_schedule_that_can_never_be_taken_back_holds_up_nothing_and_does_nothing() -> None:
    on = Sleepers()
    await on.fall_asleep("t1", WEEK_SECONDS)
    on.schedules.denied = True
    await on.slice(close())
    ended = await on.store.load("t1")
    assert ended.last is not None
    assert (ended.tip, ended.folded.state.wake) == (ended.last.number, None)
    await on.run_on()
    assert on.schedules.pending() == ()
    assert (await on.store.load("t1")).last == ended.last
