"""Commit items with the payloads they refer to: written in the right order, read back whole, in parallel."""

from core.commit import Commit
from core.errors import LostRace
from infra.dynamodb.codec import Packed, StoredCommit, Unpacking, body_uri, digest_of, pack
from infra.dynamodb.keys import DIGEST, KEPT, Item, commit_sort_key, item_key, partition
from infra.dynamodb.payloads import Payloads
from infra.dynamodb.settle import empty_metadata
from infra.dynamodb.table import Table, Update
from infra.store_rules import begins_anew


async def write_commit(table: Table, payloads: Payloads, commit: Commit) -> Packed:
    """Write the commit if its number is free; the same commit again succeeds. Raises LostRace, StoreUnavailable.

    One that begins anew first sees to it that what erased the log before it stays, as numbers would begin anew without
    it, and that none of that log's metadata does.

    put payloads  →  PutItem, if nothing is there  →  what is there has our digest: ours, whoever wrote it
                                                   →  another digest: lost
    """
    if begins_anew(commit):
        await _keep_ending(table, commit)
    packed = pack(commit, payloads.bucket)
    await payloads.put(packed.payloads)
    there = await table.put_new(packed.item)
    if there is not None and digest_of(there) != commit.digest:
        raise LostRace(f"{commit.thread_id!r}: commit {commit.number} was made by another slice")
    return packed


async def _keep_ending(table: Table, commit: Commit) -> None:
    """Whoever removes the end of an erased log (`infra/keeping/rows.py`) finds it kept, or has removed it before."""
    ending = item_key(partition(commit.thread_id), commit_sort_key(commit.number - 1))
    kept = Update(
        ending, "SET #k = :k", "attribute_exists(#d)", {"#k": KEPT, "#d": DIGEST}, {":k": {"N": "1"}}
    )
    if not await table.update(kept):
        raise LostRace(f"{commit.thread_id!r}: what erased its log before has just gone")
    await empty_metadata(table, commit.thread_id, commit.number - 1, commit.at)


async def whole_commits(payloads: Payloads, items: list[Item]) -> list[StoredCommit]:
    """The commits of `items`, large values filled in; a block that is gone is a stored block with a note."""
    bodies = await payloads.get([uri for item in items if (uri := body_uri(item)) is not None])
    unpacking = [Unpacking(item, bodies) for item in items]
    texts = await payloads.get([uri for one in unpacking for uri in one.uris])
    return [one.commit(texts) for one in unpacking]
