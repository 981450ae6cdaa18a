"""One HTTP request to AWS, and what it is called here: its operation, and which table, queue or store it goes to."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any

_OF_ITS_STACK = re.compile(r"^t\d+-|\.fifo$")
"""What a stack adds to the names of its resources."""
_READS = frozenset({"Query", "GetItem", "BatchGetItem", "GET"})


class Service(Enum):
    """Each has a protocol, and error shapes, of its own."""

    DYNAMODB = "DynamoDB"
    SQS = "SQS"
    S3 = "S3"
    SCHEDULER = "Scheduler"


@dataclass(frozen=True)
class Asked:
    """A request as a client made it."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def service(self) -> Service:
        if self._target.startswith("DynamoDB"):
            return Service.DYNAMODB
        if self._target.startswith("AmazonSQS"):
            return Service.SQS
        signed_for_scheduler = "/scheduler/aws4_request" in self.headers.get("Authorization", "")
        return Service.SCHEDULER if signed_for_scheduler else Service.S3

    @property
    def operation(self) -> str:
        """The API's name of it; of S3 and the scheduler the method, which tells as much."""
        return self._target.rpartition(".")[2] or self.method

    @property
    def is_read(self) -> bool:
        """Whether it leaves nothing behind: then it is the same whether it arrived or not."""
        return self.operation in _READS

    @cached_property
    def fields(self) -> dict[str, Any]:
        """Of a body in JSON."""
        fields: dict[str, Any] = json.loads(self.body)
        return fields

    @cached_property
    def name(self) -> str:
        """`PutItem threads`, `SendMessageBatch worker-alpha`, `PUT S3` …: the same in every stack."""
        return f"{self.operation} {_OF_ITS_STACK.sub('', self._to)}"

    @property
    def _target(self) -> str:
        return self.headers.get("X-Amz-Target", "")

    @property
    def _to(self) -> str:
        match self.service:
            case Service.DYNAMODB:
                return str(self.fields.get("TableName") or next(iter(self.fields["RequestItems"])))
            case Service.SQS:
                return _OF_ITS_STACK.sub("", str(self.fields["QueueUrl"]).rpartition("/")[2])
            case _:
                return str(self.service.value)

    def with_fields(self, fields: Mapping[str, Any]) -> "Asked":
        """The same, with another body."""
        return replace(self, body=json.dumps(fields).encode())


@dataclass(frozen=True)
class Answered:
    """An HTTP answer, whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def fields(self) -> dict[str, Any]:
        """Of a body in JSON."""
        fields: dict[str, Any] = json.loads(self.body)
        return fields

    def with_fields(self, fields: Mapping[str, Any]) -> "Answered":
        """The same, with another body; the checksum of the old one would be wrong."""
        headers = {name: value for name, value in self.headers.items() if name.lower() != "x-amz-crc32"}
        return Answered(self.status, headers, json.dumps(fields).encode())
