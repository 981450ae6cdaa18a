"""A stack opened for people: its threads, its table and its payloads, with whatever time it takes."""

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from core.clock import SYSTEM_CLOCK, Clock
from infra.dynamodb import DynamoStore
from infra.dynamodb.payloads import Payloads
from infra.dynamodb.requests import Client, Patience
from infra.operations.table import OperatorTable
from infra.stack import Stack


@dataclass(frozen=True, slots=True)
class Access:
    """Everything a command asks of a stack's stores."""

    stack: Stack
    clock: Clock
    store: DynamoStore
    table: OperatorTable
    payloads: Payloads
    patience: Patience
    s3: Client
    session: Any
    """For clients of other services."""


@asynccontextmanager
async def access_to(stack: Stack, clock: Clock = SYSTEM_CLOCK) -> AsyncIterator[Access]:
    """Raises SettingsError for a stack that is not Torpor's."""
    name, bucket = stack.output("TableName"), stack.output("PayloadBucketName")
    session = stack.async_session()
    patience = Patience(clock, lambda: math.inf)
    async with (
        session.client("dynamodb", **stack.client_arguments) as dynamodb,
        session.client("s3", **stack.client_arguments) as s3,
    ):
        store = DynamoStore(
            dynamodb,
            s3,
            table=name,
            bucket=bucket,
            clock=clock,
            seconds_left=lambda: math.inf,
            retention_days=stack.retention_days,
        )
        table, payloads = OperatorTable(dynamodb, name, patience), Payloads(s3, bucket, patience)
        yield Access(stack, clock, store, table, payloads, patience, s3, session)
