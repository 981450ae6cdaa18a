"""Reading a thread's entries in order, for people and clients: finds where to start, then reads on page by page."""

from core.entries import Entry
from infra.dynamodb.codec import FIRST_SEQ, first_seq_of
from infra.dynamodb.commits import whole_commits
from infra.dynamodb.keys import NEWEST_COMMIT, Item, commit_number, commit_sort_key, item_key, partition
from infra.dynamodb.payloads import Payloads
from infra.dynamodb.table import Span, Table


async def read_entries(
    table: Table, payloads: Payloads, thread_id: str, after_seq: int, limit: int
) -> tuple[Entry, ...]:
    """Entries `after_seq` + 1 to `after_seq` + `limit`, as far as they exist. `seq` has no gaps (*append-only*)."""
    if limit < 1:
        return ()
    last_seq = after_seq + limit
    pk = partition(thread_id)
    first = await _commit_holding(table, thread_id, after_seq + 1) if after_seq > 0 else 1
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


async def _commit_holding(table: Table, thread_id: str, seq: int) -> int:
    """The number of the last commit that begins at or before `seq`, by bisection: a few small reads at any length."""
    pk = partition(thread_id)
    newest = await table.page(Span(pk, commit_sort_key(0), NEWEST_COMMIT, newest_first=True, limit=1))
    if not newest.items:
        return 1
    low, high = 1, commit_number(newest.items[0])
    if first_seq_of(newest.items[0]) <= seq:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        begins = await table.get(item_key(pk, commit_sort_key(middle)), FIRST_SEQ)
        low, high = (middle, high) if begins is None or int(begins["N"]) <= seq else (low, middle)
    return low
