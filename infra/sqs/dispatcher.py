"""`SqsDispatcher`: the `Dispatcher` port over SQS, with an asynchronous client. One SendMessageBatch per queue and try;
what is due later than a queue can delay it goes to `Schedules`.

Order, patience and repeats are `infra/send_order.py`'s; here one batch becomes one request and its answer outcomes.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from core.clock import Clock
from core.ports import Outgoing, Unsent
from infra.scheduler.schedules import Schedules
from infra.send_order import SCHEDULER, Confirmed, Never, NotNow, SendOutcome, send_in_order, way_at
from infra.sqs.errors import TRANSPORT_ERRORS, outcome_of, outcome_of_entry
from infra.sqs.requests import request_fault, request_for

MAX_PATIENCE_SECONDS = 10.0
"""Of one `send`. A queue that is down for longer must not hold up the slice: the next commit carries its messages."""
RESERVE_SECONDS = 2.0
"""Of the invocation's time: what the slice needs to go on after sending."""


class AsyncSqsClient(Protocol):
    """The part of an aiobotocore SQS client that is used."""

    def send_message_batch(self, *, QueueUrl: str, Entries: Sequence[Mapping[str, Any]]) -> Awaitable[Any]:
        """As the SQS API's SendMessageBatch."""
        ...


@dataclass(frozen=True, slots=True)
class SqsDispatcher:
    """Sends to the queues in `urls`. Cheap: made anew for each invocation around the container's client."""

    client: AsyncSqsClient
    """With an explicit read timeout, and the SDK's own retries off: those would repeat confirmed entries too."""
    urls: Mapping[str, str]
    """Queue URL by name: `input`, `output`, `delay`, `worker:<name>`."""
    clock: Clock
    time_left_seconds: Callable[[], float]
    """Of the invocation; infinity if nothing bounds it."""
    schedules: Schedules

    async def send(self, messages: Sequence[Outgoing]) -> tuple[Unsent, ...]:
        """As the port says."""
        patience_seconds = min(MAX_PATIENCE_SECONDS, max(0.0, self.time_left_seconds() - RESERVE_SECONDS))
        now = self.clock.now()
        way_of = way_at(now)

        async def send_batch(batch: Sequence[Outgoing]) -> list[SendOutcome]:
            scheduled = way_of(batch[0]) == SCHEDULER
            return await (self.schedules.send_batch(batch) if scheduled else self._send_batch(batch))

        give_up_at = now + timedelta(seconds=patience_seconds)
        return await send_in_order(messages, send_batch, self.clock, give_up_at, way_of)

    async def _send_batch(self, batch: Sequence[Outgoing]) -> list[SendOutcome]:
        url, now = self.urls.get(batch[0].queue), self.clock.now()
        if url is None:
            return [Never(f"no queue is known for {batch[0].queue}") for _ in batch]
        faults = {index: request_fault(message, now) for index, message in enumerate(batch)}
        entries = [
            {"Id": str(index), **request_for(message, now).parameters}
            for index, message in enumerate(batch)
            if faults[index] is None
        ]
        answered = await self._request(url, entries) if entries else {}
        return [
            Never(fault) if fault is not None else answered.get(str(index), NotNow("missing in the answer"))
            for index, fault in faults.items()
        ]

    async def _request(self, url: str, entries: Sequence[Mapping[str, Any]]) -> dict[str, SendOutcome]:
        """Outcome by entry id."""
        try:
            answer = await self.client.send_message_batch(QueueUrl=url, Entries=entries)
        except TRANSPORT_ERRORS as error:
            return {entry["Id"]: outcome_of(error) for entry in entries}
        sent: dict[str, SendOutcome] = {entry["Id"]: Confirmed() for entry in answer.get("Successful", ())}
        return sent | {entry["Id"]: outcome_of_entry(entry) for entry in answer.get("Failed", ())}
