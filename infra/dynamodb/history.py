"""Reading a thread's entries in order, for people and clients: finds where to start, then reads on page by page."""

from core.entries import Entry
from infra.dynamodb.codec import first_seq_of
from infra.dynamodb.commits import whole_commits
from infra.dynamodb.keys import NEWEST_COMMIT, Item, commit_sort_key, partition
from infra.dynamodb.payloads import Payloads
from infra.dynamodb.positions import commit_holding
from infra.dynamodb.table import Span, Table


async def read_entries(
    table: Table, payloads: Payloads, thread_id: str, after_seq: int, limit: int
) -> tuple[Entry, ...]:
    """Entries `after_seq` + 1 to `after_seq` + `limit`, as far as they exist. `seq` has no gaps (*append-only*)."""
    if limit < 1:
        return ()
    last_seq = after_seq + limit
    pk = partition(thread_id)
    first = await commit_holding(table, thread_id, after_seq + 1) if after_seq > 0 else 1
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
