"""`Schedules`: messages due later than a queue can delay them, as one-time schedules that send them to the delay queue.

One request each: the service knows no batches. Order, patience and repeats are `infra/send_order.py`'s.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from core.delivery import UNSCHEDULE
from core.ports import Outgoing
from infra.scheduler.errors import created, deleted
from infra.scheduler.limits import name_fault, schedule_fault
from infra.scheduler.requests import ScheduleTarget, create_parameters, delete_parameters, fires_at
from infra.send_order import Confirmed, Never, SendOutcome
from infra.sqs.errors import TRANSPORT_ERRORS


class AsyncSchedulerClient(Protocol):
    """The part of an aiobotocore EventBridge Scheduler client that is used."""

    def create_schedule(self, **parameters: Any) -> Awaitable[Any]:
        """As the API's CreateSchedule."""
        ...

    def delete_schedule(self, **parameters: Any) -> Awaitable[Any]:
        """As the API's DeleteSchedule."""
        ...


@dataclass(frozen=True, slots=True)
class Schedules:
    """The schedules of one stack."""

    client: Callable[[], Awaitable[AsyncSchedulerClient]]
    """Opened when first needed, once per container: most slices schedule nothing. Its own retries are off."""
    target: ScheduleTarget

    async def send_batch(self, batch: Sequence[Outgoing]) -> list[SendOutcome]:
        """One outcome per message, in order. Requests go at the same time; what takes back goes after what makes."""
        outcomes: dict[int, SendOutcome] = {}
        for taking_back in (False, True):
            part = [index for index, one in enumerate(batch) if (one.queue == UNSCHEDULE) is taking_back]
            outcomes |= zip(part, await asyncio.gather(*(self._ask(batch[i]) for i in part)), strict=True)
        return [outcomes[index] for index in range(len(batch))]

    async def _ask(self, message: Outgoing) -> SendOutcome:
        return await (self._delete(message) if message.queue == UNSCHEDULE else self._create(message))

    async def _create(self, message: Outgoing) -> SendOutcome:
        if message.due_at is None:
            return Never("a schedule needs an instant")
        at = fires_at(message.due_at)
        if fault := schedule_fault(message.id, message.body, at):
            return Never(fault)
        try:
            client = await self.client()
            await client.create_schedule(**create_parameters(message.id, message.body, at, self.target))
        except TRANSPORT_ERRORS as error:
            return created(error)
        return Confirmed()

    async def _delete(self, message: Outgoing) -> SendOutcome:
        if fault := name_fault(message.body):
            return Never(fault)
        try:
            client = await self.client()
            await client.delete_schedule(**delete_parameters(message.body, message.id, self.target))
        except TRANSPORT_ERRORS as error:
            return deleted(error)
        return Confirmed()
