"""Reading what a thread was: its entries and commits in order, page by page, and its state after any commit. Not for
slices.
"""

from dataclasses import replace
from typing import Final

from core.commit import Commit
from core.entries import Entry
from core.errors import UnreadableRecord
from core.fold import fold_commits
from core.thread import FoldedThread, ThreadState
from infra.dynamodb.codec import digest_of, erased_seq_of, first_seq_of
from infra.dynamodb.commits import whole_commits
from infra.dynamodb.keys import FROM, NEWEST_COMMIT, Item, commit_number, commit_sort_key, item_key, partition
from infra.dynamodb.payloads import Payloads
from infra.dynamodb.positions import begins_last, newest_commit
from infra.dynamodb.table import Span, Table
from infra.log_reader import LogPage

_STUBS: Final = 1000
"""Rows asked for at a time where a log was erased: they are small."""


async def read_entries(
    table: Table, payloads: Payloads, thread_id: str, after_seq: int, limit: int
) -> tuple[Entry, ...]:
    """Entries `after_seq` + 1 to `after_seq` + `limit`, as far as they exist. `seq` has no gaps (*append-only*)."""
    if limit < 1:
        return ()
    newest = await newest_commit(table, thread_id)
    if newest is None:
        return ()
    after_seq = max(after_seq, erased_seq_of(newest) or 0)
    last_seq = after_seq + limit
    pk = partition(thread_id)
    first = await begins_last(table, newest, after_seq + 1) if after_seq > 0 else 1
    span = Span(pk, commit_sort_key(first), NEWEST_COMMIT, limit=limit)
    items: list[Item] = []
    start: Item | None = None
    while True:
        page = await table.page(span, start)
        items += [item for item in page.items if first_seq_of(item) <= last_seq]
        start = page.next_key
        if start is None or (page.items and first_seq_of(page.items[-1]) > last_seq):
            break
    commits = await whole_commits(payloads, items)
    entries = (entry for stored in commits for entry in stored.commit.entries)
    return tuple(entry for entry in entries if after_seq < entry.seq <= last_seq)


async def read_state_at(table: Table, payloads: Payloads, thread_id: str, number: int) -> ThreadState:
    """As `ThreadStore.state_at`: what a load found when commit `number` was the newest."""
    pk, last = partition(thread_id), commit_sort_key(number)
    begins = await table.get(item_key(pk, last), FROM)
    if begins is None:
        raise UnreadableRecord(f"{thread_id!r}: there is no commit {number}")
    first = int(begins["N"])
    items = await table.all_of(Span(pk, commit_sort_key(first), last))
    if [commit_number(item) for item in items] != list(range(first, number + 1)):
        raise UnreadableRecord(f"{thread_id!r}: commits are missing from {first} on")
    commits = await whole_commits(payloads, items)
    return fold_commits(FoldedThread(), [stored.commit for stored in commits]).state


async def read_newest(table: Table, payloads: Payloads, thread_id: str) -> Commit | None:
    """As `LogReader.newest`."""
    item = await newest_commit(table, thread_id)
    return (await whole_commits(payloads, [item]))[0].commit if item is not None else None


async def read_page(table: Table, payloads: Payloads, thread_id: str, number: int, limit: int) -> LogPage:
    """As `LogReader.page`."""
    span = Span(partition(thread_id), commit_sort_key(number), NEWEST_COMMIT, limit=limit)
    page = await table.page(span)
    while not (items := [item for item in page.items if digest_of(item)]) and page.next_key is not None:
        span = replace(span, limit=max(limit, _STUBS))  # what was there was erased
        page = await table.page(span, page.next_key)
    commits = await whole_commits(payloads, items[:limit])
    return LogPage(
        tuple(stored.commit for stored in commits), page.next_key is not None or len(items) > limit
    )
