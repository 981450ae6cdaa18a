"""Opening and closing what a client of a stack works with: AWS clients around its table, bucket and input queue."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from core.clock import Clock
from core.ports import Dispatcher, Outgoing, Unsent
from infra.log_reader import LogReader
from infra.send_order import Confirmed, Never, SendOutcome, send_in_order
from infra.sqs.errors import TRANSPORT_ERRORS, outcome_of
from infra.sqs.requests import request_fault, request_for
from infra.stack import Stack, store_of

PATIENCE_SECONDS: Final = 10.0
"""Of one sending, repeats included."""


class LocalStack(Protocol):
    """The part of a `LocalTorpor` that is used."""

    @property
    def endpoint_url(self) -> str: ...

    @property
    def clock(self) -> Clock: ...

    def advance(self, seconds: float) -> None: ...


@dataclass(frozen=True, slots=True)
class DrivenClock:
    """A local stack's clock. It only runs while somebody drives it, so whoever sleeps does."""

    local: LocalStack

    def now(self) -> datetime:
        return self.local.clock.now()

    async def sleep(self, seconds: float) -> None:
        self.local.advance(seconds)


@dataclass(frozen=True, slots=True)
class InputQueue:
    """The `Dispatcher` port of a program that has one queue to write to."""

    client: Any
    """An aiobotocore SQS client, the SDK's own retries off."""
    url: str
    clock: Clock

    async def send(self, messages: Sequence[Outgoing]) -> tuple[Unsent, ...]:
        """As the port says."""
        give_up_at = self.clock.now() + timedelta(seconds=PATIENCE_SECONDS)
        return await send_in_order(messages, self._send_batch, self.clock, give_up_at)

    async def _send_batch(self, batch: Sequence[Outgoing]) -> list[SendOutcome]:
        return [await self._send(message) for message in batch]

    async def _send(self, message: Outgoing) -> SendOutcome:
        now = self.clock.now()
        if fault := request_fault(message, now):
            return Never(fault)
        try:
            await self.client.send_message(QueueUrl=self.url, **request_for(message, now).parameters)
        except TRANSPORT_ERRORS as error:
            return outcome_of(error)
        return Confirmed()


@asynccontextmanager
async def parts_of(stack: Stack, clock: Clock) -> AsyncIterator[tuple[LogReader, Dispatcher]]:
    """What a client of the stack works with, closed at the end. Raises SettingsError."""
    url, session = stack.output("InputQueueUrl"), stack.async_session()
    async with store_of(stack, clock) as reader, session.client("sqs", **stack.client_arguments) as sqs:
        yield reader, InputQueue(sqs, url, clock)
