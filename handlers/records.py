"""The records of a Lambda SQS event as values, so that nothing else knows the event's shape."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from core.correlation import ATTRIBUTE, is_correlation_id
from core.ids import digest
from core.senders import FIRST_SENDER, UNCHECKED, SenderPolicy, speaks_for_torpor


@dataclass(frozen=True, slots=True)
class QueueRecord:
    """One delivery of one message."""

    message_id: str
    """SQS's own id of the message."""
    receipt_handle: str
    body: str
    source_arn: str
    group: str | None
    """None on standard queues."""
    sender: str | None
    first_sender: str | None
    """Whom the sender says it sends this again for (`core.senders.FIRST_SENDER`). Anybody may say that."""
    sent_at: datetime
    receive_count: int
    correlation_id: str | None = None
    """As it travelled beside the message, if it can be one and Torpor's own roles said it."""

    @property
    def attempt(self) -> str:
        """Names this delivery: another one of the same message has another."""
        return digest("attempt", self.message_id, self.receipt_handle)


def records_of(event: Mapping[str, Any], senders: SenderPolicy = UNCHECKED) -> tuple[QueueRecord, ...]:
    """The records of the event, in order. `senders`: of a queue to which not only Torpor sends."""
    return tuple(_record(record, senders) for record in event["Records"])


def _record(record: Mapping[str, Any], senders: SenderPolicy) -> QueueRecord:
    attributes = record["attributes"]
    sender: str | None = attributes.get("SenderId")
    correlation = _beside(record, ATTRIBUTE) if speaks_for_torpor(senders, sender) else None
    return QueueRecord(
        message_id=record["messageId"],
        receipt_handle=record["receiptHandle"],
        body=record["body"],
        source_arn=record["eventSourceARN"],
        group=attributes.get("MessageGroupId"),
        sender=sender,
        first_sender=_beside(record, FIRST_SENDER),
        sent_at=datetime.fromtimestamp(int(attributes["SentTimestamp"]) / 1000, UTC),
        receive_count=int(attributes["ApproximateReceiveCount"]),
        correlation_id=correlation if is_correlation_id(correlation) else None,
    )


def _beside(record: Mapping[str, Any], name: str) -> str | None:
    """The text of a message attribute."""
    value: str | None = record.get("messageAttributes", {}).get(name, {}).get("stringValue")
    return value
