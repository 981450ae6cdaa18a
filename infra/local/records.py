"""From an SQS message to the record of a Lambda event, and what the local stack keeps with a message on its way.

Alone because the event sources in this process and the worker processes both make records.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Self

from core.text import canonical_json

REGION = "us-east-1"
ATTRIBUTE = "torpor.local"
"""A message attribute of the local stack's own. Handlers never see it."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the emulator cannot keep, or would measure by its own clock."""

    sent_at_ms: int | None = None
    due_at_ms: int | None = None
    """By the local clock: instead of `DelaySeconds`, which the emulator measures by the machine's."""
    sender: str | None = None
    message_id: str | None = None
    """Of a dead letter: the id it had; moving to another queue keeps it."""
    dedup_id: str | None = None
    receive_count: int = 0
    """Receives in the queue it was moved from: SQS goes on counting."""

    @classmethod
    def of(cls, attributes: Mapping[str, Any] | None) -> Self:
        """From the message attributes of a send or a receive."""
        attribute = (attributes or {}).get(ATTRIBUTE)
        return cls(**json.loads(attribute["StringValue"])) if attribute else cls()

    def attributes(self) -> dict[str, Any]:
        """As message attributes of a send."""
        value = {name: value for name, value in asdict(self).items() if value is not None}
        return {ATTRIBUTE: {"DataType": "String", "StringValue": canonical_json(value)}}


def epoch_ms(instant: datetime) -> int:
    return round(instant.timestamp() * 1000)


def from_epoch_ms(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def lambda_record(
    message: Mapping[str, Any],
    queue_arn: str,
    *,
    receipt_handle: str,
    receive_count: int,
    sequence: int | None = None,
) -> dict[str, Any]:
    """The record of a received message. `sequence` in place of the emulator's, which is in no order."""
    facts, known = Facts.of(message.get("MessageAttributes")), message["Attributes"]
    attributes = {
        "ApproximateReceiveCount": str(receive_count),
        "SentTimestamp": str(facts.sent_at_ms or known["SentTimestamp"]),
        "SenderId": facts.sender or known["SenderId"],
        "ApproximateFirstReceiveTimestamp": known["ApproximateFirstReceiveTimestamp"],
    }
    if sequence is not None:
        attributes |= {
            "SequenceNumber": str(sequence).zfill(20),
            "MessageGroupId": known["MessageGroupId"],
            "MessageDeduplicationId": facts.dedup_id or known["MessageDeduplicationId"],
        }
    return {
        "messageId": facts.message_id or message["MessageId"],
        "receiptHandle": receipt_handle,
        "body": message["Body"],
        "attributes": attributes,
        "messageAttributes": {
            name: {"stringValue": value["StringValue"], "dataType": value["DataType"]}
            for name, value in message.get("MessageAttributes", {}).items()
            if name != ATTRIBUTE and "StringValue" in value
        },
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": REGION,
    }


def lambda_event(records: list[dict[str, Any]]) -> dict[str, Any]:
    """The event of these records."""
    return {"Records": records}


def failed_ids(response: object, records: list[dict[str, Any]]) -> set[str]:
    """Message ids that a partial batch response reports as failed. One it cannot name fails the whole batch."""
    known = {str(record["messageId"]) for record in records}
    failures = response.get("batchItemFailures") if isinstance(response, dict) else None
    failed = {str(failure.get("itemIdentifier")) for failure in failures or ()}
    return failed if failed <= known else known
