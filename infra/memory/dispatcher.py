"""`MemoryDispatcher` and `MemorySender`: sending over `MemoryQueues`, by the order, checks and ids of the SQS ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from core.clock import Clock
from core.ports import Outgoing, Unsent
from infra.memory.queues import MemoryQueues
from infra.queue_errors import QueueUnavailable, Unsendable
from infra.send_order import Confirmed, Never, NotNow, SendOutcome, send_in_order
from infra.sqs.requests import request_for


@dataclass(frozen=True, slots=True)
class MemorySender:
    """Sends one message at a time. Raises Unsendable for what no queue takes."""

    queues: MemoryQueues
    clock: Clock

    def send(self, message: Outgoing) -> None:
        """Returns when the queue has it; sending it again is harmless."""
        request = request_for(message, self.clock.now())
        self.queues.send(
            message.queue,
            request.body,
            group=request.group,
            dedup_id=request.dedup_id,
            delay_seconds=request.delay_seconds,
        )


@dataclass(frozen=True, slots=True)
class MemoryDispatcher:
    """The `Dispatcher` port over `MemoryQueues`."""

    queues: MemoryQueues
    clock: Clock
    time_left_seconds: Callable[[], float] = lambda: 10.0

    async def send(self, messages: Sequence[Outgoing]) -> tuple[Unsent, ...]:
        """As the port says."""
        give_up_at = self.clock.now() + timedelta(seconds=self.time_left_seconds())
        return await send_in_order(messages, self._send_batch, self.clock, give_up_at)

    async def _send_batch(self, batch: Sequence[Outgoing]) -> list[SendOutcome]:
        sender = MemorySender(self.queues, self.clock)
        return [_outcome(sender, message) for message in batch]


def _outcome(sender: MemorySender, message: Outgoing) -> SendOutcome:
    try:
        sender.send(message)
    except QueueUnavailable as error:
        return NotNow(str(error))
    except Unsendable as error:
        return Never(str(error))
    return Confirmed()
