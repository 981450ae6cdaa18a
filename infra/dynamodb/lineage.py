"""Reading what a thread inherits (storage.md, "Load"), each range of a log once in a container's life.

newest `SUM#` of each ancestor  →  base ∥ commits of each that is still needed        nothing, for what is kept
"""

from collections.abc import Sequence

from core.errors import UnreadableRecord
from core.lineage import RangeRead, joined, ranges_to_read
from core.thread import Ancestor, Inherited
from infra.dynamodb.codec import StoredCommit
from infra.dynamodb.commits import whole_commits
from infra.dynamodb.keys import commit_sort_key, item_key, partition
from infra.dynamodb.payloads import Payloads
from infra.dynamodb.positions import from_newest_base, newest_summary
from infra.dynamodb.requests import parallel
from infra.dynamodb.table import Span, Table
from infra.dynamodb.warm import KnownRange, WarmRanges


class LineageReader:
    """Reads ranges of logs, and keeps them: history behind a cutoff never changes (invariant *append-only*)."""

    def __init__(self, table: Table, payloads: Payloads, warm: WarmRanges) -> None:
        self._table = table
        self._payloads = payloads
        self._warm = warm

    async def inherit(self, lineage: Sequence[Ancestor]) -> Inherited:
        """As `ThreadStore.inherit`. All ancestors are read at the same time."""
        wanted = ranges_to_read(lineage)
        async with parallel() as group:
            asking = [group.create_task(self._from_newest_base(ancestor)) for ancestor in wanted]
        newest = [task.result() for task in asking]
        needed = len(ranges_to_read(newest))
        async with parallel() as group:
            reading = [
                group.create_task(self._range(known_as, ancestor))
                for known_as, ancestor in list(zip(wanted, newest, strict=True))[len(wanted) - needed :]
            ]
        return joined([task.result() for task in reading])

    async def _from_newest_base(self, ancestor: Ancestor) -> Ancestor:
        """The ancestor as it is read; as it was read, if that is kept."""
        kept = self._warm.get(ancestor)
        if kept is not None:
            return kept.read.ancestor
        summary = await newest_summary(
            self._table, ancestor.thread_id, ancestor.cutoff_seq, ancestor.after_seq
        )
        return from_newest_base(ancestor, summary)

    async def _range(self, known_as: Ancestor, ancestor: Ancestor) -> RangeRead:
        kept = self._warm.get(known_as)
        if kept is not None:
            return kept.read
        async with parallel() as group:
            reading = group.create_task(self._commits(ancestor))
            starting = group.create_task(self._base_apart(ancestor))
        commits, apart = reading.result(), starting.result()
        base = apart or next((stored for stored in commits if stored.commit.number == ancestor.base), None)
        read = RangeRead(ancestor, tuple(stored.commit for stored in commits), base.commit if base else None)
        size_bytes = sum(stored.size_bytes for stored in [*commits, *([apart] if apart else [])])
        self._warm.keep(known_as, KnownRange(read, size_bytes))
        return read

    async def _commits(self, ancestor: Ancestor) -> list[StoredCommit]:
        """None where the base covers everything up to the cutoff."""
        if ancestor.first_commit > ancestor.last_commit:
            return []
        first, last = commit_sort_key(ancestor.first_commit), commit_sort_key(ancestor.last_commit)
        items = await self._table.all_of(Span(partition(ancestor.thread_id), first, last))
        return await whole_commits(self._payloads, items)

    async def _base_apart(self, ancestor: Ancestor) -> StoredCommit | None:
        """The base, unless there is none or it is one of the range."""
        if ancestor.base is None or ancestor.first_commit <= ancestor.base <= ancestor.last_commit:
            return None
        key = item_key(partition(ancestor.thread_id), commit_sort_key(ancestor.base))
        items = await self._table.batch_get([key])
        if not items:
            raise UnreadableRecord(f"{ancestor.thread_id!r}: base {ancestor.base} is missing")
        (base,) = await whole_commits(self._payloads, items)
        return base
