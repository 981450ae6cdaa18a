"""Clients of the emulator, and a stack's resources on it: created from `resources.py` under names of their own, and
deleted again.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from threading import Lock
from typing import Any

import boto3
from botocore.config import Config

from core.ids import digest
from infra.local.records import REGION
from infra.local.resources import BUCKET, MAX_RECEIVE_COUNT, SCHEDULE_GROUP, QueueSpec, TableSpec
from infra.local.source import Queue

READ_TIMEOUT_SECONDS = 60
_MAKING = Lock()
"""A session makes one client at a time."""
LONGEST_NAME = 75
"""SQS takes 80, the `.fifo` included."""


@cache
def _session() -> Any:
    """One for the process: it keeps the services' descriptions, which take longer to read than all the rest."""
    return boto3.session.Session(aws_access_key_id="local", aws_secret_access_key="local", region_name=REGION)


def client(service: str, endpoint_url: str) -> Any:
    """A boto3 client of the local stack. Credentials are given, so nobody's own are ever used; over plain HTTP no
    certificates are read.
    """
    config = Config(read_timeout=READ_TIMEOUT_SECONDS, retries={"total_max_attempts": 1})
    with _MAKING:
        return _session().client(service, endpoint_url=endpoint_url, config=config, verify=False)


class Resources:
    """What one stack has on the emulator."""

    def __init__(self, prefix: str, sqs: Any, dynamodb: Any, s3: Any, scheduler: Any) -> None:
        self._prefix = prefix
        self._sqs, self._dynamodb, self._s3, self._scheduler = sqs, dynamodb, s3, scheduler
        self.queues: dict[str, Queue] = {}
        """By name; every dead-letter queue too."""
        self.tables: dict[str, str] = {}
        """Real name by name."""
        self.bucket = f"{prefix}-{BUCKET}"
        self.schedule_group = f"{prefix}-{SCHEDULE_GROUP}"

    def create(self, queues: Iterable[QueueSpec], tables: Iterable[TableSpec]) -> None:
        """Create everything. A dead-letter queue comes before the queue it serves."""
        for queue in queues:
            self.queues[queue.name] = self._create_queue(queue)
        for table in tables:
            self._create_table(table)
        self._s3.create_bucket(Bucket=self.bucket)
        self._scheduler.create_schedule_group(Name=self.schedule_group)

    def _create_queue(self, spec: QueueSpec) -> Queue:
        dead = self.queues[spec.dead_letters] if spec.dead_letters else None
        redrive: Mapping[str, str] = {}
        if dead is not None:
            policy = {"deadLetterTargetArn": dead.arn, "maxReceiveCount": MAX_RECEIVE_COUNT}
            redrive = {"RedrivePolicy": json.dumps(policy)}
        name = self._sqs_name(spec.name) + (".fifo" if spec.fifo else "")
        url = self._sqs.create_queue(QueueName=name, Attributes={**spec.attributes, **redrive})["QueueUrl"]
        arn = self._sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]
        return Queue(
            spec.name,
            url,
            arn["QueueArn"],
            spec.fifo,
            spec.visibility_timeout_seconds,
            dead,
            MAX_RECEIVE_COUNT,
        )

    def _sqs_name(self, name: str) -> str:
        """At most 75 of `A-Za-z0-9_-`: the name, or a digest of one that is too long."""
        plain = f"{self._prefix}-{name.replace(':', '-')}"
        return plain if len(plain) <= LONGEST_NAME else f"{self._prefix}-{digest('queue', name)}"

    def _create_table(self, spec: TableSpec) -> None:
        name = self.tables[spec.name] = f"{self._prefix}-{spec.name}"
        keys = [(spec.hash_key, "HASH"), *([(spec.range_key, "RANGE")] if spec.range_key else [])]
        stream = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": spec.stream}}
        self._dynamodb.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": key, "KeyType": kind} for key, kind in keys],
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key, _ in keys],
            BillingMode="PAY_PER_REQUEST",
            **(stream if spec.stream else {}),
        )
        self._dynamodb.update_time_to_live(
            TableName=name,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": spec.ttl_attribute},
        )

    def describe_queue(self, name: str) -> dict[str, str]:
        """The queue's attributes as the emulator has them."""
        url = self.queues[name].url
        found: dict[str, str] = self._sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])[
            "Attributes"
        ]
        return found

    def describe_table(self, name: str) -> dict[str, Any]:
        """The table's description as the emulator has it, its `TimeToLive` attribute added."""
        table = self.tables[name]
        found: dict[str, Any] = self._dynamodb.describe_table(TableName=table)["Table"]
        lifetime = self._dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
        return {**found, "TimeToLive": lifetime.get("AttributeName")}

    def describe_schedule_group(self) -> dict[str, Any]:
        """The group's description as the emulator has it."""
        found: dict[str, Any] = self._scheduler.get_schedule_group(Name=self.schedule_group)
        return found

    def delete(self) -> None:
        """Delete everything: the emulator's memory is the process's."""
        self._scheduler.delete_schedule_group(Name=self.schedule_group)
        for queue in self.queues.values():
            self._sqs.delete_queue(QueueUrl=queue.url)
        for table in self.tables.values():
            self._dynamodb.delete_table(TableName=table)
        while objects := self._s3.list_objects_v2(Bucket=self.bucket).get("Contents"):
            keys = [{"Key": found["Key"]} for found in objects]
            self._s3.delete_objects(Bucket=self.bucket, Delete={"Objects": keys})
        self._s3.delete_bucket(Bucket=self.bucket)
