"""Both thread stores behind one door, so that the same tests run over each."""

import math
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any, Protocol

import aioboto3
from botocore.config import Config

from core.commit import Commit
from core.importing import RestoringStore
from core.ports import ParkedBody, ThreadStore
from infra.dynamodb import DynamoStore, WarmThreads
from infra.dynamodb.codec import pack
from infra.dynamodb.keys import TIP
from infra.keeping import DynamoKeeper
from infra.log_reader import LogReader
from infra.memory import MemoryClock, MemoryStore
from tests.contract.watched import Watched

START = datetime(2025, 1, 1, tzinfo=UTC)
BUCKET = "payloads"
_SESSION: Any = aioboto3.Session(
    aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1"
)
_OPTIONS: Any = {
    "config": Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=20),
    "verify": False,  # plain HTTP on loopback: reading the certificates takes longer than a test
}
_NUMBERS = count(1)


class ReadableStore(LogReader, ThreadStore, Protocol):
    """The port, and what both stores offer people beyond it."""

    async def parked(self, limit: int = 1000) -> tuple[ParkedBody, ...]: ...

    async def readers(self, thread_id: str) -> tuple[str, ...]: ...


class KeepsThreads(ReadableStore, RestoringStore, Protocol):
    """A store from which threads can be taken, read from outside too."""


class Opened(Protocol):
    """An empty store, and the way to look at the same data from another container."""

    @property
    def store(self) -> ReadableStore: ...

    @property
    def clock(self) -> MemoryClock: ...

    def another(self) -> ReadableStore: ...

    def keeper(self) -> KeepsThreads:
        """The store as the sweeper and the command line have it."""
        ...

    async def expire(self) -> set[str]:
        """Remove what has expired by the clock; the threads whose tip went."""
        ...


class Stores(Protocol):
    def open(self) -> AbstractAsyncContextManager[Opened]: ...


@dataclass(frozen=True)
class OpenedMemory:
    store: MemoryStore
    clock: MemoryClock

    def another(self) -> ReadableStore:
        return self.store

    def keeper(self) -> KeepsThreads:
        return self.store

    async def expire(self) -> set[str]:
        return set(self.store.expire(self.clock.now()))


class MemoryStores:
    @asynccontextmanager
    async def open(self) -> AsyncIterator[OpenedMemory]:
        clock = MemoryClock(START)
        yield OpenedMemory(MemoryStore(clock), clock)


class OpenedDynamo:
    """A DynamoDB store with a table of its own, its clients watched."""

    def __init__(self, dynamodb: Watched, s3: Watched, table: str) -> None:
        self.dynamodb = dynamodb
        self.s3 = s3
        self.table = table
        self.clock = MemoryClock(START)
        self.deadline_seconds = 10.0
        """After START. In-store retries sleep on the clock, so they use this up."""
        self.store = self.another()

    def another(self, warm: WarmThreads | None = None) -> DynamoStore:
        return DynamoStore(
            self.dynamodb,
            self.s3,
            table=self.table,
            bucket=BUCKET,
            clock=self.clock,
            seconds_left=self._seconds_left,
            warm=warm,
        )

    def keeper(self, bucket: str = BUCKET) -> DynamoKeeper:
        return DynamoKeeper(
            self.dynamodb,
            self.s3,
            table=self.table,
            bucket=bucket,
            clock=self.clock,
            seconds_left=lambda: math.inf,
        )

    async def expire(self) -> set[str]:
        now, gone = self.clock.now().timestamp(), set[str]()
        for item in await self.everything():
            if "expires_at" in item and int(item["expires_at"]["N"]) < now:
                key = {"pk": item["pk"], "sk": item["sk"]}
                await self.dynamodb.delete_item(TableName=self.table, Key=key)
                gone |= {item["pk"]["S"].removeprefix("T#")} if item["sk"]["S"] == TIP else set()
        return gone

    def _seconds_left(self) -> float:
        return self.deadline_seconds - (self.clock.now() - START).total_seconds()

    async def seed(self, commits: Sequence[Commit]) -> None:
        """Put the items of `commits`, which have no payloads, in few requests: long logs at once."""
        for batch in range(0, len(commits), 10):
            puts = [
                {"PutRequest": {"Item": pack(commit, BUCKET).item}} for commit in commits[batch : batch + 10]
            ]
            await self.dynamodb.batch_write_item(RequestItems={self.table: puts})

    async def items(self) -> dict[str, dict[str, Any]]:
        """Everything in the table, by sort key."""
        return {item["sk"]["S"]: item for item in await self.everything()}

    async def everything(self) -> list[dict[str, Any]]:
        """Everything in the table."""
        page: dict[str, Any] = await self.dynamodb.scan(TableName=self.table)
        items: list[dict[str, Any]] = page["Items"]
        while start := page.get("LastEvaluatedKey"):
            page = await self.dynamodb.scan(TableName=self.table, ExclusiveStartKey=start)
            items += page["Items"]
        return items


class DynamoStores:
    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint

    @asynccontextmanager
    async def open(self) -> AsyncIterator[OpenedDynamo]:
        async with (
            _SESSION.client("dynamodb", endpoint_url=self._endpoint, **_OPTIONS) as dynamodb,
            _SESSION.client("s3", endpoint_url=self._endpoint, **_OPTIONS) as s3,
        ):
            table = f"threads-{next(_NUMBERS)}"
            await dynamodb.create_table(
                TableName=table,
                KeySchema=[
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
                AttributeDefinitions=[
                    {"AttributeName": "pk", "AttributeType": "S"},
                    {"AttributeName": "sk", "AttributeType": "S"},
                ],
                BillingMode="PAY_PER_REQUEST",
            )
            await s3.create_bucket(Bucket=BUCKET)
            yield OpenedDynamo(Watched(dynamodb), Watched(s3), table)
