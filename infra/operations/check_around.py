"""What a log says of others, held against them: open children, who reads it, and what it inherits."""

from collections.abc import AsyncIterator, Mapping

from core.errors import UnreadableRecord
from core.thread import ThreadState
from infra.dynamodb.keys import TIP, item_key, partition, reader_sort_key
from infra.operations.access import Access
from infra.operations.findings import RESTORE, Finding

DLQ = "look for its spawn in `torpor dlq list`; `torpor close CHILD` lets the parent go on"


async def children_findings(access: Access, state: ThreadState, *, settled: bool) -> AsyncIterator[Finding]:
    """Whether the open children of the fold exist and live."""
    for child in state.children:
        where = f"child {child.thread_id}"
        try:
            theirs = (await access.store.load(child.thread_id)).folded.state
        except UnreadableRecord as error:
            yield Finding("never stuck", where, f"cannot be loaded: {error}", "torpor check CHILD")
            continue
        if not theirs.exists:
            what = "it is open, and has no log: its spawn is on its way"
            yield Finding("never stuck", where, what, f"if it stays so: {DLQ}" if settled else DLQ, note=True)
        elif theirs.closed:
            what = "it is closed, and here it is open: its report is on its way"
            yield Finding("never stuck", where, what, "if it stays so: `torpor settle CHILD`", note=True)


async def reader_findings(
    access: Access, thread_id: str, made: Mapping[tuple[str, str], int], own: set[str], written: int
) -> AsyncIterator[Finding]:
    """Whether the readers that this log made are written down, and those that are written down here exist.

    `made`: the commit by (log, reader). `own`: the readers that this log names. `written`: as for rows.
    """
    there = set(await _elsewhere(access, thread_id, made)) | {(thread_id, reader) for reader in own}
    missing = [pair for pair, number in made.items() if number <= written and pair not in there]
    begun = await _begun(access, own | {reader for _, reader in missing})
    for log, reader in missing:
        if reader in begun:  # one that was erased is written down no more
            what = f"{reader} reads {log}, which does not say so: it could be erased"
            yield Finding("safe spawn", f"READER#{reader}", what, RESTORE)
    for reader in sorted(own - begun):
        if not (await access.store.load(reader)).folded.state.exists:
            what = "it is to read this log, and does not exist: it is on its way, or its spawn was given up"
            yield Finding(
                "safe spawn", f"READER#{reader}", what, "it only keeps this log from being erased", note=True
            )


async def lineage_findings(access: Access, state: ThreadState) -> AsyncIterator[Finding]:
    """Whether what the thread inherits is there."""
    if state.summary is not None or not state.origin.lineage:
        return
    try:
        await access.store.inherit(state.origin.lineage)
    except UnreadableRecord as error:
        yield Finding("append-only", "lineage", f"what it inherits cannot be read: {error}", RESTORE)


async def _elsewhere(
    access: Access, thread_id: str, made: Mapping[tuple[str, str], int]
) -> list[tuple[str, str]]:
    pairs = [pair for pair in made if pair[0] != thread_id]
    keys = {(partition(log), reader_sort_key(reader)): (log, reader) for log, reader in pairs}
    found = await access.table.batch_get([item_key(pk, sk) for pk, sk in keys])
    return [keys[item["pk"]["S"], item["sk"]["S"]] for item in found]


async def _begun(access: Access, threads: set[str]) -> set[str]:
    """Those of the threads that have settled a commit."""
    found = await access.table.batch_get([item_key(partition(one), TIP) for one in sorted(threads)])
    begun = {item["pk"]["S"] for item in found}
    return {one for one in threads if partition(one) in begun}
