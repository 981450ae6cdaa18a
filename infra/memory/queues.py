"""In-memory queues that behave as SQS does: groups, deduplication, visibility, delays, dead letters. No threads.

Time moves only with the clock. Messages come out as the records of a Lambda SQS event, so handlers cannot tell.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from core.clock import SYSTEM_CLOCK, Clock
from core.errors import MisuseError
from core.ids import digest
from infra.queue_errors import Unsendable
from infra.sqs.limits import MAX_BATCH_ENTRIES, STRING, body_fault, fifo_fault, standard_fault

DEDUPLICATION_WINDOW = timedelta(minutes=5)
REGION, ACCOUNT = "us-east-1", "000000000000"
ANONYMOUS = "AIDATORPORLOCAL"
"""`SenderId` of whoever gives none."""


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """How one queue behaves."""

    fifo: bool = False
    visibility_timeout_seconds: float = 30.0
    max_receive_count: int | None = None
    """Receives after which the next one moves a message to `dead_letters` instead."""
    dead_letters: str | None = None


@dataclass(frozen=True, slots=True)
class _Message:
    id: str
    body: str
    sender: str
    sent_at: datetime
    visible_at: datetime
    group: str | None = None
    dedup_id: str | None = None
    sequence: int = 0
    receive_count: int = 0
    first_received_at: datetime | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    receipt: str | None = None
    """Of the newest receive; an older one deletes nothing any more on FIFO, as in SQS."""


@dataclass(slots=True)
class _Queue:
    name: str
    settings: QueueSettings
    messages: dict[str, _Message] = field(default_factory=dict)
    """By message id, in the order of sending."""
    remembered: dict[str, tuple[str, datetime]] = field(default_factory=dict)
    """Message id and instant by deduplication id; outlives the message."""


class MemoryQueues:
    """A set of named queues. Everything SQS would refuse, and an unknown queue, raises Unsendable."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._queues: dict[str, _Queue] = {}
        self._sent = 0

    def create(self, name: str, settings: QueueSettings | None = None) -> None:
        """Make a queue; making it again changes its settings and keeps its messages."""
        settings = settings or QueueSettings()
        if (
            settings.dead_letters is not None
            and self._queue(settings.dead_letters).settings.fifo != settings.fifo
        ):
            raise MisuseError(
                f"queue {name!r}: its dead-letter queue must be of the same kind, FIFO or standard"
            )
        self._queues.setdefault(name, _Queue(name, settings)).settings = settings

    def __contains__(self, name: str) -> bool:
        return name in self._queues

    def send(
        self,
        name: str,
        body: str,
        *,
        group: str | None = None,
        dedup_id: str | None = None,
        delay_seconds: int = 0,
        sender: str = ANONYMOUS,
        attributes: Mapping[str, str] | None = None,
    ) -> str:
        """Put a message in; returns its id. A repeat within the deduplication window returns the first one's."""
        queue, now = self._queue(name), self._clock.now()
        fifo = queue.settings.fifo
        ids = fifo_fault(group, dedup_id, delay_seconds) if fifo else standard_fault(dedup_id, delay_seconds)
        if fault := body_fault(body) or ids:
            raise Unsendable(f"queue {name!r}: {fault}")
        if dedup_id is not None and (earlier := self._remembered(queue, dedup_id, now)):
            return earlier
        self._sent += 1
        message_id = _message_id(name, self._sent)
        if dedup_id is not None:
            queue.remembered[dedup_id] = (message_id, now)
        visible_at = now + timedelta(seconds=delay_seconds)
        queue.messages[message_id] = _Message(
            message_id,
            body,
            sender,
            now,
            visible_at,
            group,
            dedup_id,
            self._sent,
            attributes=attributes or {},
        )
        return message_id

    def receive(self, name: str, max_messages: int = 1) -> list[dict[str, Any]]:
        """Up to `max_messages` (1-10) records, invisible from now on for the visibility timeout.

        FIFO: in order inside a group, and nothing of a group that has a message in flight. A message that was received
        too often moves to the dead-letter queue instead.
        """
        if not 1 <= max_messages <= MAX_BATCH_ENTRIES:
            raise MisuseError(f"receive takes 1-{MAX_BATCH_ENTRIES} messages at a time")
        queue, now = self._queue(name), self._clock.now()
        taken = []
        for message in self._available(queue, now):
            if self._dead(queue, message):
                continue
            taken.append(self._take(queue, message, now))
            if len(taken) == max_messages:
                break
        return [_record(queue, message) for message in taken]

    def delete(self, name: str, receipt_handle: str) -> None:
        """Acknowledge. A receipt that a later receive replaced, or whose message is gone, changes nothing."""
        queue = self._queue(name)
        if message := _received(queue, receipt_handle):
            del queue.messages[message.id]

    def change_visibility(self, name: str, receipt_handle: str, seconds: float) -> None:
        """Make a received message visible `seconds` from now, sooner or later than its timeout would."""
        queue = self._queue(name)
        if message := _received(queue, receipt_handle):
            visible_at = self._clock.now() + timedelta(seconds=seconds)
            queue.messages[message.id] = replace(message, visible_at=visible_at)

    def count(self, name: str) -> int:
        """Messages in the queue: visible, delayed and in flight."""
        return len(self._queue(name).messages)

    def bodies(self, name: str) -> list[str]:
        """Every body in the queue in the order of sending, without receiving any."""
        return [message.body for message in self._queue(name).messages.values()]

    def next_visible_at(self, name: str) -> datetime | None:
        """The earliest instant, the past included, at which `receive` could give something; None for an empty queue."""
        queue = self._queue(name)
        heads: dict[str | None, datetime] = {}
        for message in queue.messages.values():
            heads.setdefault(message.group if queue.settings.fifo else message.id, message.visible_at)
        return min(heads.values(), default=None)

    def _queue(self, name: str) -> _Queue:
        try:
            return self._queues[name]
        except KeyError:
            raise Unsendable(f"there is no queue {name!r}") from None

    def _remembered(self, queue: _Queue, dedup_id: str, now: datetime) -> str | None:
        for known, (_, sent_at) in list(queue.remembered.items()):
            if now - sent_at < DEDUPLICATION_WINDOW:
                break
            del queue.remembered[known]
        found = queue.remembered.get(dedup_id)
        return found[0] if found else None

    def _available(self, queue: _Queue, now: datetime) -> Iterator[_Message]:
        """Visible messages in order; of a FIFO group none at or after one that is not visible."""
        held: set[str | None] = set()
        for message in list(queue.messages.values()):
            if message.group in held:
                continue
            if message.visible_at > now:
                if queue.settings.fifo:
                    held.add(message.group)
                continue
            yield message

    def _dead(self, queue: _Queue, message: _Message) -> bool:
        """Move the message to the dead-letter queue if its receives are used up. Moving does not deduplicate."""
        limit, target = queue.settings.max_receive_count, queue.settings.dead_letters
        if limit is None or target is None or message.receive_count < limit:
            return False
        del queue.messages[message.id]
        self._queue(target).messages[message.id] = replace(message, receipt=None)
        return True

    def _take(self, queue: _Queue, message: _Message, now: datetime) -> _Message:
        count = message.receive_count + 1
        taken = replace(
            message,
            receive_count=count,
            first_received_at=message.first_received_at or now,
            receipt=f"{message.id}#{digest('receipt', queue.name, message.id, count)}",
            visible_at=now + timedelta(seconds=queue.settings.visibility_timeout_seconds),
        )
        queue.messages[message.id] = taken
        return taken


def _received(queue: _Queue, receipt_handle: str) -> _Message | None:
    message = queue.messages.get(receipt_handle.partition("#")[0])
    return message if message is not None and message.receipt == receipt_handle else None


def _message_id(queue: str, sequence: int) -> str:
    """Shaped like the ids of SQS; the same queues used the same way give the same ids."""
    hexadecimal = hashlib.sha256(f"{queue}\n{sequence}".encode()).hexdigest()
    return "-".join(
        (hexadecimal[:8], hexadecimal[8:12], hexadecimal[12:16], hexadecimal[16:20], hexadecimal[20:32])
    )


def _record(queue: _Queue, message: _Message) -> dict[str, Any]:
    fifo = {
        "SequenceNumber": str(message.sequence).zfill(20),
        "MessageGroupId": message.group,
        "MessageDeduplicationId": message.dedup_id,
    }
    return {
        "messageId": message.id,
        "receiptHandle": message.receipt,
        "body": message.body,
        "attributes": {
            "ApproximateReceiveCount": str(message.receive_count),
            "SentTimestamp": _epoch_ms(message.sent_at),
            "SenderId": message.sender,
            "ApproximateFirstReceiveTimestamp": _epoch_ms(message.first_received_at or message.sent_at),
            **(fifo if queue.settings.fifo else {}),
        },
        "messageAttributes": {
            name: {"stringValue": value, "dataType": STRING} for name, value in message.attributes.items()
        },
        "md5OfBody": hashlib.md5(message.body.encode(), usedforsecurity=False).hexdigest(),
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn(queue.name),
        "awsRegion": REGION,
    }


def queue_arn(name: str) -> str:
    """The ARN that records of this queue carry."""
    return f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"


def _epoch_ms(instant: datetime) -> str:
    return str(round(instant.timestamp() * 1000))
