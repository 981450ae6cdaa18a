"""The order of sending an outbox, shared by every `Dispatcher`: what goes first, what waits, what is tried again.

Apart from the queues because order and patience are the same over SQS and in memory; only a batch request differs.
What no queue can delay for long enough goes to the scheduler, as if to one more queue.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from core.clock import Clock
from core.delivery import OUTPUT
from core.ports import Outgoing, Unsent
from infra.scheduler.requests import is_for_scheduler
from infra.sqs.limits import MAX_BATCH_BYTES, MAX_BATCH_ENTRIES, message_bytes
from infra.sqs.requests import attributes_of

FIRST_BACKOFF_SECONDS = 0.1
MAX_BACKOFF_SECONDS = 2.0
BLOCKED = "an earlier message of its queue and group was not confirmed"
TIME_UP = "the time was up before it was tried"
SCHEDULER = "scheduler"


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The queue has it."""


@dataclass(frozen=True, slots=True)
class NotNow:
    """Not confirmed: it may or may not have arrived. Sent again under the same id."""

    reason: str


@dataclass(frozen=True, slots=True)
class Never:
    """It cannot be sent, whoever tries."""

    reason: str


SendOutcome = Confirmed | NotNow | Never
SendBatch = Callable[[Sequence[Outgoing]], Awaitable[Sequence[SendOutcome]]]
"""Sends one batch, all of one way; one outcome per message, in order. Raises nothing that a queue causes."""
WayOf = Callable[[Outgoing], str]
"""What a message goes by: its queue's name, or `SCHEDULER`."""


def queue_of(message: Outgoing) -> str:
    """The way of a dispatcher that has queues only."""
    return message.queue


def way_at(now: datetime) -> WayOf:
    """The ways of an outbox whose sending begins now: the same to the end, so that order is kept."""

    def way_of(message: Outgoing) -> str:
        return SCHEDULER if is_for_scheduler(message, now) else message.queue

    return way_of


class QueueShare:
    """One way's part of an outbox: what to try next, and what became of it. No I/O.

    A lane is the messages of one group. What failed in a lane is tried alone until it is confirmed or given up; only
    inside one batch, where the queue decides entry by entry, can a later message arrive before one that failed.
    """

    def __init__(self, messages: Sequence[Outgoing]) -> None:
        self._waiting = dict(enumerate(messages))
        self._failed: dict[int, str] = {}
        self._trying: list[int] = []
        self._unsent: dict[int, Unsent] = {}

    def next_batch(self) -> tuple[Outgoing, ...]:
        """What one request may carry: in order, within the limits of SendMessageBatch. Empty when nothing is left."""
        held = self._held()
        self._trying, size = [], 0
        for position, message in self._waiting.items():
            if message.group in held and position not in self._failed:
                continue
            size += message_bytes(message.body, attributes_of(message))
            if self._trying and (size > MAX_BATCH_BYTES or len(self._trying) == MAX_BATCH_ENTRIES):
                break
            self._trying.append(position)
        return tuple(self._waiting[position] for position in self._trying)

    def record(self, outcomes: Sequence[SendOutcome]) -> bool:
        """Note what became of the last batch, one outcome per message. True if something must be tried again."""
        for position, outcome in zip(self._trying, outcomes, strict=True):
            self._failed.pop(position, None)
            match outcome:
                case NotNow(reason=reason):
                    self._failed[position] = reason
                case Never(reason=reason):
                    self._unsent[position] = Unsent(self._waiting.pop(position), reason, permanent=True)
                case Confirmed():
                    del self._waiting[position]
        return bool(self._failed)

    def give_up(self) -> tuple[Unsent, ...]:
        """Everything not confirmed, in order. What was refused for good is permanent, the rest is not."""
        held = self._held()
        left = {
            position: Unsent(
                message,
                self._failed.get(position, BLOCKED if message.group in held else TIME_UP),
                permanent=False,
            )
            for position, message in self._waiting.items()
        }
        return tuple(unsent for _, unsent in sorted((self._unsent | left).items()))

    def _held(self) -> set[str | None]:
        return {self._waiting[position].group for position in self._failed}


async def send_in_order(
    messages: Sequence[Outgoing],
    send_batch: SendBatch,
    clock: Clock,
    give_up_at: datetime,
    way_of: WayOf = queue_of,
) -> tuple[Unsent, ...]:
    """The whole of `Dispatcher.send`: queues in parallel, outputs last, failed messages again until `give_up_at`.

    One batch per way is tried even if `give_up_at` is past. Never raises for a queue.
    """
    unsent: list[Unsent] = []
    for outputs in (False, True):
        part = [message for message in messages if (message.queue == OUTPUT) is outputs]
        by_way = groupby(sorted(part, key=way_of), key=way_of)
        async with asyncio.TaskGroup() as tasks:
            shares = [
                tasks.create_task(_send_share(QueueShare(list(share)), send_batch, clock, give_up_at))
                for _, share in by_way
            ]
        unsent += [failed for task in shares for failed in task.result()]
    place = {id(message): position for position, message in enumerate(messages)}
    return tuple(sorted(unsent, key=lambda failed: place[id(failed.message)]))


async def _send_share(
    share: QueueShare, send_batch: SendBatch, clock: Clock, give_up_at: datetime
) -> tuple[Unsent, ...]:
    backoff_seconds = FIRST_BACKOFF_SECONDS
    while batch := share.next_batch():
        if not share.record(await send_batch(batch)):
            backoff_seconds = FIRST_BACKOFF_SECONDS
            continue
        if clock.now() + timedelta(seconds=backoff_seconds) >= give_up_at:
            break
        await clock.sleep(backoff_seconds)
        backoff_seconds = min(2 * backoff_seconds, MAX_BACKOFF_SECONDS)
    return share.give_up()
