"""`check`: one thread's partition read from end to end, page by page, and everything in it held against the rules.

tip  →  commits, oldest first  →  the rows beside them  →  tip again  →  children, readers, what is inherited

The thread may go on meanwhile: what is newer than the commit read last is of no concern.
"""

from collections.abc import AsyncIterator, Callable, Iterator

from core.errors import NoThread, UnreadableRecord
from core.ids import digest
from infra.dynamodb.codec import Unpacking, body_uri, check_version, first_seq_of, from_of
from infra.dynamodb.keys import (
    COMMIT,
    DIGEST,
    FIRST_READER,
    NUMBER,
    TIP,
    Item,
    commit_number,
    item_key,
    partition,
)
from infra.dynamodb.table import Span
from infra.operations.access import Access
from infra.operations.check_around import children_findings, lineage_findings, reader_findings
from infra.operations.check_log import LogCheck, ReadCommit
from infra.operations.check_rows import RowsCheck, tip_findings
from infra.operations.check_waits import waiting_findings
from infra.operations.findings import Finding
from infra.store_rules import thread_expires_at

PAGE = 100

Progress = Callable[[int], None]
"""Told the number of commits read so far, after each page."""


async def check(access: Access, thread_id: str, progress: Progress) -> AsyncIterator[Finding]:
    """Everything that is found wrong. Raises MisuseError for a thread that is not there, StoreUnavailable."""
    tip_before = await _tip(access, thread_id)
    log, rows, readers = LogCheck(thread_id), list[Item](), set[str]()
    first: int | None = None
    async for items in _pages(access, thread_id):
        commits = [item for item in items if item["sk"]["S"].startswith(COMMIT) and DIGEST in item]
        for read in await _read(access, commits):
            if read.commit is not None and (first is None or read.commit.erased is not None):
                first = read.number
            for finding in log.take(read):
                yield finding
        beside = [item for item in items if not item["sk"]["S"].startswith(COMMIT)]
        readers |= {reader for item in beside if (reader := _reader(item)) is not None}
        rows += [item for item in beside if _reader(item) is None and item["sk"]["S"] != TIP]
        progress(log.commits)
    if log.commits == 0 and not rows and tip_before == 0:
        raise NoThread(thread_id)
    tip = await _tip(access, thread_id)
    # A next commit is written only when the rows of the one before are.
    written = max(min(tip, log.number), log.number - 1)
    expired = _expired(access, log)
    for finding in tip_findings(tip, log.number, tip_before, log.expected.excused, expired=expired):
        yield finding
    for finding in _rows(access, log, rows, first or 1, written):
        yield finding
    async for finding in _around(access, thread_id, log, readers, tip, written):
        yield finding


def _expired(access: Access, log: LogCheck) -> bool:
    """Whether the tip may have gone because its time was over."""
    if log.last is None or log.state is None:
        return False
    days = access.stack.retention_days
    expires_at = thread_expires_at(log.last, days, waiting=log.state.waiting)
    return expires_at is not None and expires_at <= access.clock.now()


def _rows(access: Access, log: LogCheck, rows: list[Item], first: int, written: int) -> Iterator[Finding]:
    beside = RowsCheck(log.expected, first, log.number, written, access.clock.now())
    for row in rows:
        yield from beside.take(row)
    yield from beside.left()


async def _around(
    access: Access, thread_id: str, log: LogCheck, readers: set[str], tip: int, written: int
) -> AsyncIterator[Finding]:
    async for finding in reader_findings(access, thread_id, log.expected.readers, readers, written):
        yield finding
    if log.state is None:
        return
    settled = tip >= log.number
    for finding in waiting_findings(log.state, settled=settled, now=access.clock.now()):
        yield finding
    async for finding in children_findings(access, log.state, settled=settled):
        yield finding
    async for finding in lineage_findings(access, log.state):
        yield finding


async def _tip(access: Access, thread_id: str) -> int:
    number = await access.table.get(item_key(partition(thread_id), TIP), NUMBER)
    return 0 if number is None else int(number["N"])


async def _pages(access: Access, thread_id: str) -> AsyncIterator[list[Item]]:
    span, start = Span(partition(thread_id), COMMIT, TIP, limit=PAGE), None  # around all of its rows
    while True:
        page = await access.table.page(span, start)
        yield page.items
        start = page.next_key
        if start is None:
            return


def _reader(item: Item) -> str | None:
    sort_key = str(item["sk"]["S"])
    return sort_key.removeprefix(FIRST_READER) if sort_key.startswith(FIRST_READER) else None


async def _read(access: Access, items: list[Item]) -> list[ReadCommit]:
    bodies = await access.payloads.get([uri for item in items if (uri := body_uri(item)) is not None])
    return [await _read_one(access, item, bodies) for item in items]


async def _read_one(access: Access, item: Item, bodies: dict[str, str | None]) -> ReadCommit:
    number, whole = commit_number(item), body_uri(item)
    try:
        check_version(item)
        unpacking = Unpacking(item, bodies)
        texts = await access.payloads.get(unpacking.uris)
        commit = unpacking.commit(texts).commit
    except UnreadableRecord as error:
        return ReadCommit(number, None, fault=str(error))
    texts = {**texts, **({whole: bodies[whole]} if whole is not None else {})}
    gone = tuple(uri for uri, text in texts.items() if text is None)
    return ReadCommit(
        number,
        commit,
        content_digest=None if gone else unpacking.content_digest(),
        from_number=from_of(item),
        first_seq=first_seq_of(item),
        gone=gone,
        changed=tuple(uri for uri, text in texts.items() if text is not None and not _is_own(uri, text)),
    )


def _is_own(uri: str, text: str) -> bool:
    """Whether a payload is what its address was made of."""
    return uri.rpartition("/")[2] == digest(text)
