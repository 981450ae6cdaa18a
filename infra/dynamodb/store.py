"""`DynamoStore`: the thread store on DynamoDB and S3. Only puts the parts together; each has a file of its own."""

from collections.abc import Callable, Sequence

from core.clock import Clock
from core.commit import Commit
from core.entries import Entry
from core.messages import InputKey
from core.ports import LoadedThread, ParkedBody
from core.thread import Ancestor, Inherited, ThreadState
from infra.dynamodb import settle
from infra.dynamodb.codec import StoredCommit
from infra.dynamodb.commits import write_commit
from infra.dynamodb.facts import read_marker
from infra.dynamodb.history import read_entries, read_newest, read_page, read_state_at
from infra.dynamodb.keys import FIRST_READER, LAST_READER, partition
from infra.dynamodb.lineage import LineageReader
from infra.dynamodb.load import Loader
from infra.dynamodb.parked import park, read_parked, read_parked_lately
from infra.dynamodb.payloads import Payloads
from infra.dynamodb.positions import commit_holding, locate
from infra.dynamodb.requests import Client, Patience
from infra.dynamodb.table import Span, Table
from infra.dynamodb.warm import WarmRanges, WarmThreads
from infra.log_reader import LogPage
from infra.store_rules import RETENTION_DAYS, thread_expires_at


class DynamoStore:
    """Implements `core.ports.ThreadStore` and `infra.log_reader.LogReader`.

    `dynamodb` and `s3` are asynchronous clients with the SDK's own retries off. `seconds_left` tells how long requests
    may still be tried in this invocation (infinity: no bound but the number of tries). One store serves a container's
    whole life: it keeps threads warm, in one event loop.
    """

    def __init__(
        self,
        dynamodb: Client,
        s3: Client,
        *,
        table: str,
        bucket: str,
        clock: Clock,
        seconds_left: Callable[[], float],
        retention_days: int = RETENTION_DAYS,
        warm: WarmThreads | None = None,
    ) -> None:
        patience = Patience(clock, seconds_left)
        self._table = Table(dynamodb, table, patience)
        self._payloads = Payloads(s3, bucket, patience)
        self._warm = warm or WarmThreads()
        self._lineages = LineageReader(self._table, self._payloads, WarmRanges())
        self._loader = Loader(self._table, self._payloads, self._warm, self._lineages)
        self._retention_days = retention_days

    async def load(self, thread_id: str, keys: Sequence[InputKey] = ()) -> LoadedThread:
        return await self._loader.load(thread_id, keys)

    async def commit(self, commit: Commit) -> None:
        packed = await write_commit(self._table, self._payloads, commit)
        self._warm.extend(StoredCommit(commit, packed.size_bytes))

    async def mark(self, commit: Commit) -> None:
        await settle.mark(self._table, commit)

    async def settled(self, commit: Commit, *, waiting: bool) -> None:
        expires_at = thread_expires_at(commit, self._retention_days, waiting=waiting)
        await settle.move_tip(self._table, commit, expires_at=expires_at)

    async def locate(self, thread_id: str, seq: int) -> Ancestor | None:
        return await locate(self._table, self._payloads, thread_id, seq)

    async def inherit(self, lineage: Sequence[Ancestor]) -> Inherited:
        return await self._lineages.inherit(lineage)

    async def state_at(self, thread_id: str, number: int) -> ThreadState:
        return await read_state_at(self._table, self._payloads, thread_id, number)

    async def park(self, parked: ParkedBody) -> None:
        await park(self._table, self._payloads, parked)

    async def entries(self, thread_id: str, after_seq: int = 0, limit: int = 1000) -> tuple[Entry, ...]:
        return await read_entries(self._table, self._payloads, thread_id, after_seq, limit)

    async def newest(self, thread_id: str) -> Commit | None:
        return await read_newest(self._table, self._payloads, thread_id)

    async def page(self, thread_id: str, number: int, limit: int) -> LogPage:
        return await read_page(self._table, self._payloads, thread_id, number, limit)

    async def commit_holding(self, thread_id: str, seq: int) -> int:
        return await commit_holding(self._table, thread_id, seq)

    async def taken_in(self, thread_id: str, key: InputKey) -> int | None:
        return await read_marker(self._table, thread_id, key)

    async def parked_lately(self, limit: int) -> tuple[ParkedBody, ...]:
        return await read_parked_lately(self._table, self._payloads, limit)

    async def parked(self, limit: int = 1000) -> tuple[ParkedBody, ...]:
        """Parked bodies for people, oldest first."""
        return await read_parked(self._table, self._payloads, limit)

    async def readers(self, thread_id: str) -> tuple[str, ...]:
        """Ids of the children and forks that read this thread's log, for people."""
        items = await self._table.all_of(Span(partition(thread_id), FIRST_READER, LAST_READER))
        return tuple(item["sk"]["S"].removeprefix(FIRST_READER) for item in items)
