"""A stack by its name: what CloudFormation says of it, and the thread store behind it, for commands.

Deployed, or local: the local stack answers the same questions at its endpoint, whatever name it is asked by.
"""

import math
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.loaders import create_loader
from botocore.session import Session
from botocore.utils import is_valid_endpoint_url

from core.clock import SYSTEM_CLOCK, Clock
from core.delivery import DELAY, INPUT, OUTPUT
from core.errors import SettingsError
from infra.aws_errors import AWS_FAILURES
from infra.dynamodb import DynamoStore
from infra.project.blocks import logical_prefix
from infra.store_rules import RETENTION_DAYS

S = TypeVar("S")
_CONFIG = Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=20)
"""The store itself tries again."""
LOCAL_REGION = "us-east-1"
NO_REGION = (
    "no region is chosen: --region, or AWS_REGION, or one in the profile; of a local stack, --endpoint"
)
AWS_HINT = "credentials, region and name are right? A local stack is found by --endpoint"
LOCAL_HINT = "is it running, and this its endpoint? `torpor chat` shows one, LocalTorpor.endpoint_url is one"
_LOCAL_KEYS = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
"""The local stack takes any credentials, so nobody's own are used."""
_QUEUES = {INPUT: "InputQueue", OUTPUT: "OutputQueue", DELAY: "DelayQueue"}
_WORKER = "worker:"


@dataclass(frozen=True, slots=True)
class Stack:
    """As CloudFormation describes it."""

    name: str
    region: str
    outputs: Mapping[str, str]
    parameters: Mapping[str, str]
    arn: str = ""
    endpoint_url: str | None = None
    """Of a local stack."""

    def output(self, key: str) -> str:
        """Raises SettingsError if the stack has none: it is not one of Torpor's, or not complete."""
        if key not in self.outputs:
            raise SettingsError(f"stack {self.name!r} in {self.region} has no output {key}: is it Torpor's?")
        return self.outputs[key]

    @property
    def retention_days(self) -> int:
        return int(self.parameters.get("RetentionDays", RETENTION_DAYS))

    @property
    def session_arguments(self) -> dict[str, Any]:
        """For `Session(...)` of boto3 and aioboto3."""
        return {"region_name": self.region, **(_LOCAL_KEYS if self.endpoint_url else {})}

    @property
    def client_arguments(self) -> dict[str, Any]:
        """For `session.client(...)`: no retries of the SDK's own. Over plain HTTP no certificates are read."""
        plain = (self.endpoint_url or "").startswith("http://")
        return {
            "config": _CONFIG,
            "endpoint_url": self.endpoint_url,
            **({"verify": False} if plain else {}),
        }

    def client(self, service: str) -> Any:
        """A boto3 client of the stack's account and region."""
        session = boto3.session.Session(botocore_session=_reading_once(Session()), **self.session_arguments)
        return session.client(service, **self.client_arguments)

    def async_session(self) -> Any:
        """An aioboto3 session of the same, for `client(..., **client_arguments)`."""
        import aioboto3
        from aiobotocore.session import AioSession

        return aioboto3.Session(botocore_session=_reading_once(AioSession()), **self.session_arguments)


@dataclass(frozen=True, slots=True)
class StackResources(Mapping[str, str]):
    """Queue URL by name (`input`, `output`, `delay`, `worker:<name>`), and what else has a logical id."""

    stack: Stack
    physical: Mapping[str, str]
    """Physical id by logical id. A queue's is its URL."""

    def __getitem__(self, queue: str) -> str:
        worker = queue.removeprefix(_WORKER)
        logical = _QUEUES.get(queue) if worker == queue else f"{logical_prefix(worker)}Queue"
        return self.physical[logical or queue]

    def __iter__(self) -> Iterator[str]:
        """Those that every stack has: a worker's logical id does not tell its name."""
        return iter(_QUEUES)

    def __len__(self) -> int:
        return len(_QUEUES)

    def named(self, logical_id: str) -> str:
        """Raises SettingsError."""
        if logical_id not in self.physical:
            raise SettingsError(f"stack {self.stack.name!r} has no {logical_id}: is it Torpor's?")
        return self.physical[logical_id]

    def arn(self, service: str, resource: str) -> str:
        """Of something in the stack's account and region; of IAM's, which has no regions, in the account."""
        partition, account = self.stack.arn.split(":")[1:5:3]
        region = "" if service == "iam" else self.stack.region
        return f"arn:{partition}:{service}:{region}:{account}:{resource}"


def find_stack(name: str, region: str | None = None, endpoint_url: str | None = None) -> Stack:
    """Region: the given one, else the environment's or the profile's. Raises SettingsError.

    `endpoint_url`: of a local stack, which has one region and asks for no credentials.
    """
    if endpoint_url is not None:
        _check_endpoint(endpoint_url)
    try:
        chosen = region or os.environ.get("AWS_REGION") or (LOCAL_REGION if endpoint_url else None)
        region = chosen or boto3.session.Session().region_name
        if not region:
            raise SettingsError(NO_REGION)
        asked = Stack(name, region, {}, {}, endpoint_url=endpoint_url)
        described = asked.client("cloudformation").describe_stacks(StackName=name)
    except AWS_FAILURES as error:
        hint = AWS_HINT if endpoint_url is None else LOCAL_HINT
        raise SettingsError(f"stack {name!r} cannot be looked up: {error} ({hint})") from error
    (found,) = described["Stacks"]
    return Stack(
        name,
        region,
        outputs=_pairs(found.get("Outputs", ()), "Output"),
        parameters=_pairs(found.get("Parameters", ()), "Parameter"),
        arn=found.get("StackId", ""),
        endpoint_url=endpoint_url,
    )


def _check_endpoint(url: str) -> None:
    """Raises SettingsError for what is no endpoint. An empty one is none either: never a deployed stack's."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.port != 0 and is_valid_endpoint_url(url)
    except ValueError:
        usable = False
    if not usable:
        raise SettingsError(
            f"endpoint {url!r}: a local stack's is like http://127.0.0.1:5000, as `torpor chat` shows it"
        )


def resources_of(stack: Stack) -> StackResources:
    """What the stack is made of, page by page. Raises SettingsError."""
    try:
        pages = stack.client("cloudformation").get_paginator("list_stack_resources")
        physical = {
            one["LogicalResourceId"]: one.get("PhysicalResourceId", "")
            for page in pages.paginate(StackName=stack.name)
            for one in page["StackResourceSummaries"]
        }
    except AWS_FAILURES as error:
        raise SettingsError(f"the resources of stack {stack.name!r} cannot be listed: {error}") from error
    return StackResources(stack, physical)


@dataclass(frozen=True, slots=True)
class Storage:
    """The table and the bucket of a stack, opened. Requests may take as long as they need."""

    stack: Stack
    clock: Clock
    session: Any
    """For clients of other services."""
    dynamodb: Any
    s3: Any
    table: str
    bucket: str

    def opened_by(self, kind: Callable[..., S]) -> S:
        """A store of this kind over them."""
        return kind(
            self.dynamodb,
            self.s3,
            table=self.table,
            bucket=self.bucket,
            clock=self.clock,
            seconds_left=lambda: math.inf,
            retention_days=self.stack.retention_days,
        )


@asynccontextmanager
async def storage_of(stack: Stack, clock: Clock = SYSTEM_CLOCK) -> AsyncIterator[Storage]:
    """Closed at the end. Raises SettingsError for a stack that is not Torpor's."""
    table, bucket = stack.output("TableName"), stack.output("PayloadBucketName")
    session = stack.async_session()
    async with (
        session.client("dynamodb", **stack.client_arguments) as dynamodb,
        session.client("s3", **stack.client_arguments) as s3,
    ):
        yield Storage(stack, clock, session, dynamodb, s3, table, bucket)


@asynccontextmanager
async def store_of(stack: Stack, clock: Clock = SYSTEM_CLOCK) -> AsyncIterator[DynamoStore]:
    """The stack's threads. Raises SettingsError."""
    async with storage_of(stack, clock) as storage:
        yield storage.opened_by(DynamoStore)


@cache
def _service_data() -> Any:
    """The SDK's service descriptions: parsed once per process, whatever the number of sessions."""
    return create_loader()


def _reading_once(session: Any) -> Any:
    session.register_component("data_loader", _service_data())
    return session


def _pairs(described: Any, kind: str) -> dict[str, str]:
    return {one[f"{kind}Key"]: one[f"{kind}Value"] for one in described}
