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
from infra.stack import Stack, storage_of


class OperatorStore(DynamoStore):
    """The thread store with the rights of the operator's role: what it writes, it writes row by row."""

    def writes_by(self, table: OperatorTable) -> None:
        """From now on."""
        self._table = table


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
    patience = Patience(clock, lambda: math.inf)
    async with storage_of(stack, clock) as storage:
        table = OperatorTable(storage.dynamodb, storage.table, patience)
        payloads = Payloads(storage.s3, storage.bucket, patience)
        store = storage.opened_by(OperatorStore)
        store.writes_by(table)
        yield Access(stack, clock, store, table, payloads, patience, storage.s3, storage.session)
