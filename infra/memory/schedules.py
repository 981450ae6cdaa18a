"""In-memory one-time schedules, as EventBridge Scheduler has them: each puts a message into a queue once, and is gone.

Time moves only with the clock: whoever moves it calls `fire_due`.
"""

from dataclasses import dataclass
from datetime import datetime

from core.clock import Clock
from infra.memory.queues import MemoryQueues
from infra.queue_errors import Unsendable
from infra.scheduler.limits import name_fault, schedule_fault


@dataclass(frozen=True, slots=True)
class MemorySchedule:
    """One schedule."""

    name: str
    fires_at: datetime
    queue: str
    body: str


class MemorySchedules:
    """The schedules of one stack. What EventBridge Scheduler would refuse raises Unsendable."""

    def __init__(self, queues: MemoryQueues, clock: Clock) -> None:
        self._queues = queues
        self._clock = clock
        self._schedules: dict[str, MemorySchedule] = {}

    def create(self, schedule: MemorySchedule) -> None:
        """Make it; one that is there under its name stays as it is."""
        if fault := schedule_fault(schedule.name, schedule.body, schedule.fires_at):
            raise Unsendable(f"schedule: {fault}")
        if schedule.queue not in self._queues:
            raise Unsendable(f"schedule: there is no queue {schedule.queue!r}")
        self._schedules.setdefault(schedule.name, schedule)

    def delete(self, name: str) -> None:
        """Take it back; one that has fired, or never was, is success."""
        if fault := name_fault(name):
            raise Unsendable(f"schedule: {fault}")
        self._schedules.pop(name, None)

    def pending(self) -> tuple[MemorySchedule, ...]:
        """What has not fired, in the order of firing."""
        return tuple(sorted(self._schedules.values(), key=lambda one: (one.fires_at, one.name)))

    def next_fires_at(self) -> datetime | None:
        """The earliest instant, the past included, at which `fire_due` would do something."""
        return min((one.fires_at for one in self._schedules.values()), default=None)

    def fire_due(self) -> int:
        """Send what is due by now and forget it; how many that were."""
        due = [one for one in self.pending() if one.fires_at <= self._clock.now()]
        for one in due:
            self._queues.send(one.queue, one.body)
            del self._schedules[one.name]
        return len(due)
