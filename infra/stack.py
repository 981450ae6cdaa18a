"""A deployed stack by its name: what its outputs and parameters say, and the thread store behind it, for commands."""

import math
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config

from core.clock import SYSTEM_CLOCK, Clock
from core.errors import SettingsError
from infra.aws_errors import AWS_FAILURES
from infra.dynamodb import DynamoStore
from infra.store_rules import RETENTION_DAYS

_CONFIG = Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=20)
"""The store itself tries again."""


@dataclass(frozen=True, slots=True)
class Stack:
    """As CloudFormation describes it."""

    name: str
    region: str
    outputs: Mapping[str, str]
    parameters: Mapping[str, str]

    def output(self, key: str) -> str:
        """Raises SettingsError if the stack has none: it is not one of Torpor's, or not complete."""
        if key not in self.outputs:
            raise SettingsError(f"stack {self.name!r} in {self.region} has no output {key}: is it Torpor's?")
        return self.outputs[key]


def find_stack(name: str, region: str | None = None) -> Stack:
    """Region: the given one, else the environment's or the profile's. Raises SettingsError."""
    try:
        session = boto3.session.Session(region_name=region or os.environ.get("AWS_REGION") or None)
        if not session.region_name:
            raise SettingsError("no region is chosen: --region, or AWS_REGION, or one in the profile")
        described = session.client("cloudformation").describe_stacks(StackName=name)
    except AWS_FAILURES as error:
        raise SettingsError(f"stack {name!r} cannot be looked up: {error}") from error
    (found,) = described["Stacks"]
    return Stack(
        name,
        session.region_name,
        outputs=_pairs(found.get("Outputs", ()), "Output"),
        parameters=_pairs(found.get("Parameters", ()), "Parameter"),
    )


@asynccontextmanager
async def store_of(stack: Stack, clock: Clock = SYSTEM_CLOCK) -> AsyncIterator[DynamoStore]:
    """The stack's threads. Requests may take as long as they need. Raises SettingsError."""
    import aioboto3

    table, bucket = stack.output("TableName"), stack.output("PayloadBucketName")
    session: Any = aioboto3.Session(region_name=stack.region)
    async with (
        session.client("dynamodb", config=_CONFIG) as dynamodb,
        session.client("s3", config=_CONFIG) as s3,
    ):
        yield DynamoStore(
            dynamodb,
            s3,
            table=table,
            bucket=bucket,
            clock=clock,
            seconds_left=lambda: math.inf,
            retention_days=int(stack.parameters.get("RetentionDays", RETENTION_DAYS)),
        )


def _pairs(described: Any, kind: str) -> dict[str, str]:
    return {one[f"{kind}Key"]: one[f"{kind}Value"] for one in described}
