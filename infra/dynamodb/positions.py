"""Where in a log an entry stands: the commit that holds it, by bisection, and the base that sums up what is before."""

from core.errors import UnreadableRecord
from core.lineage import newest_base
from core.thread import Ancestor
from infra.dynamodb.codec import FIRST_SEQ, erased_seq_of, first_seq_of
from infra.dynamodb.commits import whole_commits
from infra.dynamodb.keys import (
    FROM,
    NEWEST_COMMIT,
    Item,
    commit_number,
    commit_sort_key,
    item_key,
    number_of,
    partition,
    summary_seq,
    summary_sort_key,
    thread_of,
)
from infra.dynamodb.payloads import Payloads
from infra.dynamodb.requests import parallel
from infra.dynamodb.table import Span, Table


async def locate(table: Table, payloads: Payloads, thread_id: str, seq: int) -> Ancestor | None:
    """As `ThreadStore.locate`."""
    newest = await newest_commit(table, thread_id)
    if newest is None:
        return None
    erased_seq = erased_seq_of(newest)
    if seq <= (erased_seq or 0) or not await _reaches(payloads, newest, seq):
        return None
    async with parallel() as group:
        ranging = group.create_task(_range(table, newest, seq))
        summing = group.create_task(newest_summary(table, thread_id, seq, erased_seq))
    first, last = ranging.result()
    whole = Ancestor(
        thread_id=thread_id, cutoff_seq=seq, first_commit=first, last_commit=last, after_seq=erased_seq
    )
    return from_newest_base(whole, summing.result())


async def commit_holding(table: Table, thread_id: str, seq: int) -> int:
    """The number of the last commit that begins at or before `seq`: a few small reads at any length."""
    newest = await newest_commit(table, thread_id)
    return await begins_last(table, newest, seq) if newest is not None else 1


async def newest_summary(table: Table, thread_id: str, seq: int, after_seq: int | None = None) -> Item | None:
    """The `SUM#` of the base that covers most of the thread, and nothing beyond `seq`; not one of an erased log, which
    ended with `after_seq`.
    """
    first = summary_sort_key(0 if after_seq is None else after_seq + 1)
    span = Span(partition(thread_id), first, summary_sort_key(seq), newest_first=True, limit=1)
    page = await table.page(span)
    return page.items[0] if page.items else None


def from_newest_base(ancestor: Ancestor, summary: Item | None) -> Ancestor:
    """The ancestor as it is read where there is this `SUM#`."""
    if summary is None:
        return ancestor
    return newest_base(ancestor, number_of(summary), summary_seq(summary), int(summary[FROM]["N"]))


async def newest_commit(table: Table, thread_id: str) -> Item | None:
    """The item of the newest commit; None for an empty log."""
    span = Span(partition(thread_id), commit_sort_key(0), NEWEST_COMMIT, newest_first=True, limit=1)
    page = await table.page(span)
    return page.items[0] if page.items else None


async def _reaches(payloads: Payloads, newest: Item, seq: int) -> bool:
    """Whether the log that ends with this commit has an entry `seq`."""
    if first_seq_of(newest) > seq:
        return True
    (stored,) = await whole_commits(payloads, [newest])
    return stored.commit.last_seq >= seq


async def _range(table: Table, newest: Item, seq: int) -> tuple[int, int]:
    """First and last commit of what holds the entries up to `seq`, as far as no summary of then covers them.

    The first one is where a reader had to start when the one before the last was the newest.
    """
    pk, last = newest["pk"]["S"], await begins_last(table, newest, seq)
    if last == 1:
        return 1, 1
    begins = await table.get(item_key(pk, commit_sort_key(last - 1)), FROM)
    if begins is None:
        raise UnreadableRecord(f"{thread_of(pk)!r}: commit {last - 1} is missing")
    return int(begins["N"]), last


async def begins_last(table: Table, newest: Item, seq: int) -> int:
    """The number of the last commit that begins at or before `seq`, in the log that ends with `newest`."""
    pk = newest["pk"]["S"]
    low, high = 1, commit_number(newest)
    if first_seq_of(newest) <= seq:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        begins = await table.get(item_key(pk, commit_sort_key(middle)), FIRST_SEQ)
        low, high = (middle, high) if begins is None or int(begins["N"]) <= seq else (low, middle)
    return low
