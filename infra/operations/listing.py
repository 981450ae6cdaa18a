"""The threads of a table, by pages: found by a scan for their tips, since nothing lists them.

A scan reads the whole table to find them, and is paid for what it reads: what a page has cost is part of it. Threads
come in no order; one that is new while a list goes on may or may not be in it.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from core.ids import is_child
from infra.dynamodb.keys import EXPIRES_AT, NUMBER, TIP, Item, item_key, number_of, partition, thread_of
from infra.operations.table import OperatorTable


@dataclass(frozen=True, slots=True)
class Listed:
    """A thread, as its tip tells it."""

    thread_id: str
    commits: int
    """Number of the last settled commit."""
    last_at: datetime | None
    """Of that commit; None while the thread waits for something, which keeps it from expiring, or has expired."""


@dataclass(frozen=True, slots=True)
class ThreadPage:
    threads: tuple[Listed, ...]
    more: bool
    """Whether there may be others, behind the last one."""
    read_units: float
    """What the page cost."""


async def threads_after(
    table: OperatorTable, after: str | None, limit: int, retention_days: int, *, roots: bool
) -> ThreadPage:
    """At most `limit` threads: the first ones, or those behind thread `after`, which need not be there any more.

    `roots`: only threads that nobody spawned.
    """
    found: list[Listed] = []
    start: Item | None = item_key(partition(after), TIP) if after is not None else None
    read_units = 0.0
    while len(found) < limit:
        page = await table.scan(TIP, start)
        read_units += page.read_units
        owned = ((thread_of(item["pk"]["S"]), item) for item in page.items)
        listed = [_listed(owner, item, retention_days) for owner, item in owned if owner is not None]
        found += [one for one in listed if not (roots and is_child(one.thread_id))]
        start = page.next_key
        if start is None:
            return ThreadPage(tuple(found[:limit]), len(found) > limit, read_units)
    return ThreadPage(tuple(found[:limit]), True, read_units)


def _listed(thread_id: str, item: Item, retention_days: int) -> Listed:
    last_at = None
    if EXPIRES_AT in item and NUMBER in item:
        expires_at = datetime.fromtimestamp(int(item[EXPIRES_AT]["N"]), UTC)
        last_at = expires_at - timedelta(days=retention_days)
    return Listed(thread_id, number_of(item), last_at)
