"""`MemoryDispatcher` and `MemorySender`: sending over `MemoryQueues`, by the order, checks and ids of the SQS ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from core.clock import Clock
from core.delivery import UNSCHEDULE
from core.ports import Outgoing, Unsent
from infra.memory.queues import MemoryQueues
from infra.memory.schedules import MemorySchedule, MemorySchedules
from infra.queue_errors import QueueUnavailable, Unsendable
from infra.scheduler.requests import fires_at, is_for_scheduler
from infra.send_order import Confirmed, Never, NotNow, SendOutcome, send_in_order, way_at
from infra.sqs.requests import request_for


@dataclass(frozen=True, slots=True)
class MemorySender:
    """Sends one message at a time. Raises Unsendable for what no queue takes."""

    queues: MemoryQueues
    clock: Clock
    schedules: MemorySchedules | None = None
    """None: what is due late goes through the delay queue in steps, and there is never anything to take back."""

    def send(self, message: Outgoing) -> None:
        """Returns when the queue has it; sending it again is harmless."""
        if self.schedules is not None and is_for_scheduler(message, self.clock.now()):
            self._schedule(message, self.schedules)
        elif message.queue != UNSCHEDULE:
            self._send(message)

    def _send(self, message: Outgoing) -> None:
        request = request_for(message, self.clock.now())
        self.queues.send(
            message.queue,
            request.body,
            group=request.group,
            dedup_id=request.dedup_id,
            delay_seconds=request.delay_seconds,
            attributes=request.attributes,
        )

    def _schedule(self, message: Outgoing, schedules: MemorySchedules) -> None:
        if message.due_at is None:  # it takes one back
            schedules.delete(message.body)
        else:
            at = fires_at(message.due_at)
            schedules.create(MemorySchedule(message.id, at, message.queue, message.body))


@dataclass(frozen=True, slots=True)
class MemoryDispatcher:
    """The `Dispatcher` port over `MemoryQueues` and `MemorySchedules`."""

    queues: MemoryQueues
    schedules: MemorySchedules
    clock: Clock
    time_left_seconds: Callable[[], float] = lambda: 10.0

    async def send(self, messages: Sequence[Outgoing]) -> tuple[Unsent, ...]:
        """As the port says."""
        now = self.clock.now()
        give_up_at = now + timedelta(seconds=self.time_left_seconds())
        return await send_in_order(messages, self._send_batch, self.clock, give_up_at, way_at(now))

    async def _send_batch(self, batch: Sequence[Outgoing]) -> list[SendOutcome]:
        sender = MemorySender(self.queues, self.clock, self.schedules)
        return [_outcome(sender, message) for message in batch]


def _outcome(sender: MemorySender, message: Outgoing) -> SendOutcome:
    try:
        sender.send(message)
    except QueueUnavailable as error:
        return NotNow(str(error))
    except Unsendable as error:
        return Never(str(error))
    return Confirmed()
