"""Loading a thread (storage.md, "Load" and "Warm").

cold   newest 16 commits  →  the rest from `from` on, then what is inherited  ∥  tip, markers, metadata
warm   commits from the last one known on, that one included  →  tip, markers, metadata
"""

from collections.abc import Sequence
from typing import Final

from core.errors import UnreadableRecord
from core.messages import InputKey
from core.ports import LoadedThread
from core.thread import Inherited
from infra.dynamodb.codec import digest_of, from_of
from infra.dynamodb.commits import whole_commits
from infra.dynamodb.facts import read_facts
from infra.dynamodb.keys import NEWEST_COMMIT, Item, commit_number, commit_sort_key, partition
from infra.dynamodb.lineage import LineageReader
from infra.dynamodb.payloads import Payloads
from infra.dynamodb.requests import parallel
from infra.dynamodb.table import Span, Table
from infra.dynamodb.warm import KnownThread, WarmThreads, known_after

NEWEST: Final = 16
"""Commits asked for first: most threads have no more that no summary covers."""


class Loader:
    """Reads threads and keeps what it read warm."""

    def __init__(self, table: Table, payloads: Payloads, warm: WarmThreads, lineages: LineageReader) -> None:
        self._table = table
        self._payloads = payloads
        self._warm = warm
        self._lineages = lineages

    async def load(self, thread_id: str, keys: Sequence[InputKey]) -> LoadedThread:
        """As `ThreadStore.load`. A tip or marker of a commit newer than the last one read: looks once more."""
        loaded, newest = await self._look(thread_id, keys)
        if newest > loaded.folded.state.number:  # a commit came between the two reads
            loaded, newest = await self._look(thread_id, keys)
        last = loaded.folded.state.number
        if newest <= last:
            return loaded
        raise UnreadableRecord(f"{thread_id!r}: tip or marker of commit {newest}, but the log ends at {last}")

    async def _look(self, thread_id: str, keys: Sequence[InputKey]) -> tuple[LoadedThread, int]:
        known = self._warm.get(thread_id)
        newer = await self._newer(thread_id, known) if known else None
        if newer is None:
            self._warm.forget(thread_id)
            known, newer = None, await self._newest(thread_id)
        async with parallel() as group:
            reading = group.create_task(self._read(thread_id, known, newer))
            asking = group.create_task(read_facts(self._table, thread_id, keys))
        (now, inherited), facts = reading.result(), asking.result()
        if now is None:
            return LoadedThread(metadata=facts.metadata, tip=facts.tip, markers=facts.markers), facts.newest
        self._warm.keep(thread_id, now)
        metadata = {} if now.last.erased else facts.metadata
        loaded = LoadedThread(now.folded, inherited, now.last, facts.tip, facts.markers, metadata)
        return loaded, facts.newest

    async def _newer(self, thread_id: str, known: KnownThread) -> list[Item] | None:
        """Items after the last known commit; None if it is not there any more, or too many came after it."""
        first = commit_sort_key(known.last.number)
        page = await self._table.page(Span(partition(thread_id), first, NEWEST_COMMIT))
        if page.next_key is not None or not page.items or digest_of(page.items[0]) != known.last.digest:
            return None
        return page.items[1:]

    async def _newest(self, thread_id: str) -> list[Item]:
        """The newest commits, oldest first: 16, or as many as there are from `from` on."""
        items: list[Item] = []
        start: Item | None = None
        while True:
            left = NEWEST - len(items)
            span = Span(
                partition(thread_id), commit_sort_key(0), NEWEST_COMMIT, newest_first=True, limit=left
            )
            page = await self._table.page(span, start)
            items += page.items
            start = page.next_key
            if start is None or len(items) == NEWEST or commit_number(items[-1]) <= from_of(items[0]):
                return items[::-1]

    async def _read(
        self, thread_id: str, known: KnownThread | None, newer: list[Item]
    ) -> tuple[KnownThread | None, Inherited]:
        now = await self._extended(thread_id, known, newer)
        if now is None or now.folded.state.summary is not None:
            return now, Inherited()
        return now, await self._lineages.inherit(now.folded.state.origin.lineage)

    async def _extended(
        self, thread_id: str, known: KnownThread | None, newer: list[Item]
    ) -> KnownThread | None:
        items = newer if known or not newer else await self._from_the_start(thread_id, newer)
        return known_after(known, await whole_commits(self._payloads, items))

    async def _from_the_start(self, thread_id: str, newest: list[Item]) -> list[Item]:
        """All items from `from` on. Raises UnreadableRecord unless none is missing."""
        first, oldest_read = from_of(newest[-1]), commit_number(newest[0])
        items = [item for item in newest if commit_number(item) >= first]
        if first < oldest_read:
            span = Span(partition(thread_id), commit_sort_key(first), commit_sort_key(oldest_read - 1))
            items = await self._table.all_of(span) + items
        if [commit_number(item) for item in items] != list(range(first, first + len(items))) or not items:
            raise UnreadableRecord(f"{thread_id!r}: commits are missing from {first} on")
        return items
