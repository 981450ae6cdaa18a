"""From an `Outgoing` to the parameters of a SQS send, one function for the asynchronous and the synchronous sender."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.correlation import ATTRIBUTE
from core.delivery import DELAY, INPUT, OUTPUT
from core.ports import Outgoing
from infra.sqs.limits import (
    MAX_BODY_BYTES,
    MAX_DELAY_SECONDS,
    STRING,
    body_fault,
    fifo_fault,
    message_bytes,
    standard_fault,
)

FIFO_QUEUES = frozenset({INPUT, OUTPUT})


@dataclass(frozen=True, slots=True)
class SendRequest:
    """What one message asks of SQS, the queue URL apart."""

    body: str
    group: str | None = None
    dedup_id: str | None = None
    delay_seconds: int = 0
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Travel beside the body."""

    @property
    def parameters(self) -> dict[str, Any]:
        """As SendMessage and the entries of SendMessageBatch take them."""
        optional = {
            "MessageGroupId": self.group,
            "MessageDeduplicationId": self.dedup_id,
            "DelaySeconds": self.delay_seconds or None,
            "MessageAttributes": {
                name: {"DataType": STRING, "StringValue": value} for name, value in self.attributes.items()
            }
            or None,
        }
        return {"MessageBody": self.body} | {
            key: value for key, value in optional.items() if value is not None
        }


def is_fifo(queue: str) -> bool:
    """Whether the queue of that name keeps order: the input and the output queue do."""
    return queue in FIFO_QUEUES


def request_for(message: Outgoing, now: datetime) -> SendRequest:
    """The message as SQS gets it. Sent again later, only a delay differs: what is left of it."""
    beside = attributes_of(message)
    if is_fifo(message.queue):
        return SendRequest(message.body, message.group, message.id, attributes=beside)
    delay = delay_seconds(message.due_at, now) if message.queue == DELAY else 0
    return SendRequest(message.body, delay_seconds=delay, attributes=beside)


def attributes_of(message: Outgoing) -> dict[str, str]:
    """What travels beside the body: its correlation id, unless just that would make it too large."""
    if message.correlation_id is None:
        return {}
    beside = {ATTRIBUTE: message.correlation_id}
    return beside if message_bytes(message.body, beside) <= MAX_BODY_BYTES else {}


def request_fault(message: Outgoing, now: datetime) -> str | None:
    """Why SQS would never take the message, by our own strict checks; None if it would."""
    request = request_for(message, now)
    if fault := body_fault(request.body):
        return fault
    if is_fifo(message.queue):
        return fifo_fault(request.group, request.dedup_id, request.delay_seconds)
    return standard_fault(request.dedup_id, request.delay_seconds)


def delay_seconds(due_at: datetime | None, now: datetime) -> int:
    """Whole seconds until `due_at`, rounded up, within 0 and what SQS can delay; the relay delays the rest."""
    if due_at is None:
        return 0
    return min(MAX_DELAY_SECONDS, max(0, math.ceil((due_at - now).total_seconds())))
