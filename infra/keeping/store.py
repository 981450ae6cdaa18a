"""`DynamoKeeper`: the thread store on DynamoDB and S3, from which threads can be taken, and brought back, too."""

from collections.abc import Callable, Sequence
from datetime import datetime

from core.clock import Clock
from core.commit import Commit
from core.keeping import Cleared
from infra.dynamodb import settle
from infra.dynamodb.requests import Client, Patience
from infra.dynamodb.store import DynamoStore
from infra.keeping.objects import Objects
from infra.keeping.rows import Rows
from infra.store_rules import RETENTION_DAYS


class DynamoKeeper(DynamoStore):
    """Implements `core.importing.RestoringStore`. For the sweeper and the command line."""

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
    ) -> None:
        super().__init__(
            dynamodb,
            s3,
            table=table,
            bucket=bucket,
            clock=clock,
            seconds_left=seconds_left,
            retention_days=retention_days,
        )
        patience = Patience(clock, seconds_left)
        self._rows = Rows(dynamodb, table, patience)
        self._objects = Objects(s3, bucket, patience)

    async def look_again(self, thread_id: str, at: datetime) -> None:
        await settle.look_again(self._table, thread_id, at)

    async def drop_readers(self, pairs: Sequence[tuple[str, str]]) -> None:
        await self._rows.drop_readers(pairs)

    async def clear(self, erasing: Commit) -> Cleared:
        if await self._births(erasing) is None:
            return Cleared()
        await settle.empty_metadata(self._table, erasing.thread_id, erasing.number, erasing.at)
        payloads = await self._objects.delete(erasing.thread_id, lambda: self._births(erasing))
        commits = await self._rows.replace_commits(erasing, lambda: self._births(erasing))
        await self._rows.delete_summaries(erasing)
        return Cleared(commits, payloads)

    async def hold(self, last: Commit, now: datetime, *, waiting: bool) -> None:
        await self.settled(last.model_copy(update={"at": now}), waiting=waiting)

    async def release(self, last: Commit) -> None:
        await self._rows.delete_tip(last)

    async def bury(self, erasing: Commit) -> bool:
        return await self._births(erasing) is None or await self._rows.delete_rest(erasing)

    async def _births(self, erasing: Commit) -> tuple[str, ...] | None:
        """Of the logs behind the erasing commit; None if it does not stand any more: then what it ended has gone."""
        first = (await self.page(erasing.thread_id, erasing.number, 1)).commits
        newest = await self.newest(erasing.thread_id)
        stands = bool(first) and (first[0].number, first[0].digest) == (erasing.number, erasing.digest)
        return (erasing.birth, newest.birth) if stands and newest is not None else None
