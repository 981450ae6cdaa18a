"""What expires on the local stack: moto never removes anything by TTL, so that is played here by the local clock, and
the table's stream with it, as far as somebody reads it.

AWS removes what has expired within a few days. Here what is known to expire goes at its instant; what was written since
the tables were last looked at, at the next look.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore.exceptions import ClientError

from core.clock import Clock
from infra.dynamodb.keys import EXPIRES_AT, TIP
from infra.local.records import REGION
from infra.local.resources import SWEEPER_BATCH_SIZE, SWEEPER_TRIES, THREAD_TABLE
from infra.local.source import Invoke

ARRIVALS = "expiry"
"""What waits for it goes by this name."""
LOOK_EVERY = timedelta(days=30)
RETRY = timedelta(seconds=60)
STREAM_ARN = f"arn:aws:dynamodb:{REGION}:123456789012:table/threads/stream/local"


@dataclass(slots=True)
class _Removal:
    """A record of the stream that is not handled yet."""

    record: dict[str, Any]
    due_at: datetime
    tries: int = 0

    @property
    def sequence(self) -> str:
        return str(self.record["dynamodb"]["SequenceNumber"])


@dataclass
class ExpirySource:
    """Removes what has expired from `tables`, and gives the sweeper what it reads of the first one's stream."""

    dynamodb: Any
    sqs: Any
    tables: Mapping[str, str]
    """Real name by name."""
    clock: Clock
    invoke: Invoke
    failures_url: str
    """The queue that is told what the sweeper could not handle."""
    name: str = ARRIVALS
    arrivals_name: str = ARRIVALS
    _look_at: datetime = field(init=False)
    _removals: list[_Removal] = field(default_factory=list)
    _sequence: int = 0

    def __post_init__(self) -> None:
        self._look_at = self.clock.now() + LOOK_EVERY

    def step(self) -> bool:
        """Remove what is due, or let the sweeper run. False: neither was to do."""
        if self._look_at <= self.clock.now():
            self._look()
            return True
        return self._sweep()

    def next_due_at(self) -> datetime:
        """When there is something to do, the past included."""
        return min([self._look_at, *(removal.due_at for removal in self._removals)])

    def awaits_retry(self) -> bool:
        """Whether the sweeper failed, and is to try again."""
        return any(removal.tries for removal in self._removals)

    def _look(self) -> None:
        now = self.clock.now()
        later = [now + LOOK_EVERY]
        for name, table in self.tables.items():
            for item in self._expiring(table):
                expires_at = datetime.fromtimestamp(int(item[EXPIRES_AT]["N"]), UTC)
                if expires_at > now:
                    later.append(expires_at)
                elif self._remove(table, item) and name == THREAD_TABLE.name:
                    self._tell(item)
        self._look_at = min(later)

    def _expiring(self, table: str) -> Iterator[dict[str, Any]]:
        pages = self.dynamodb.get_paginator("scan").paginate(
            TableName=table,
            FilterExpression="attribute_exists(#e)",
            ProjectionExpression="pk, sk, #e",
            ExpressionAttributeNames={"#e": EXPIRES_AT},
        )
        for page in pages:
            yield from page["Items"]

    def _remove(self, table: str, item: Mapping[str, Any]) -> bool:
        """False if it was written again meanwhile."""
        try:
            self.dynamodb.delete_item(
                TableName=table,
                Key=_key(item),
                ConditionExpression="#e <= :now",
                ExpressionAttributeNames={"#e": EXPIRES_AT},
                ExpressionAttributeValues={":now": {"N": str(math.ceil(self.clock.now().timestamp()))}},
            )
        except ClientError as error:
            if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
                return False
            raise
        return True

    def _tell(self, item: Mapping[str, Any]) -> None:
        """The sweeper's filter lets tips through that the table itself removed."""
        if item["sk"]["S"] == TIP:
            self._sequence += 1
            self._removals.append(_Removal(removal_record(_key(item), self._sequence), self.clock.now()))

    def _sweep(self) -> bool:
        now = self.clock.now()
        batch = [removal for removal in self._removals if removal.due_at <= now][:SWEEPER_BATCH_SIZE]
        if not batch:
            return False
        response, death = self.invoke({"Records": [removal.record for removal in batch]})
        failed = batch[0].sequence if death is not None else _first_failed(response)
        position = next((n for n, removal in enumerate(batch) if removal.sequence == failed), len(batch))
        for removal in batch[position:]:
            removal.due_at = now + RETRY
        if position < len(batch):
            self._failed(batch[position])
        done = batch[:position]
        self._removals = [removal for removal in self._removals if removal not in done]
        return True

    def _failed(self, removal: _Removal) -> None:
        removal.tries += 1
        if removal.tries > SWEEPER_TRIES:
            where = {"eventSourceARN": STREAM_ARN, "startSequenceNumber": removal.sequence}
            self.sqs.send_message(QueueUrl=self.failures_url, MessageBody=json.dumps(where))
            self._removals.remove(removal)


def removal_record(key: Mapping[str, Any], sequence: int) -> dict[str, Any]:
    """As Lambda gives it to a function, of a stream of keys only: what the table removed since it had expired."""
    return {
        "eventID": f"removal-{sequence}",
        "eventName": "REMOVE",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": REGION,
        "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"},
        "dynamodb": {
            "Keys": dict(key),
            "SequenceNumber": f"{sequence:021d}",
            "SizeBytes": 16,
            "StreamViewType": "KEYS_ONLY",
        },
        "eventSourceARN": STREAM_ARN,
    }


def _key(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: item[name] for name in ("pk", "sk") if name in item}


def _first_failed(response: Mapping[str, Any]) -> str | None:
    failures = response["batchItemFailures"]
    return failures[0]["itemIdentifier"] if failures else None
