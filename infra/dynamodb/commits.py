"""Commit items with the payloads they refer to: written in the right order, read back whole, in parallel."""

from core.commit import Commit
from core.errors import LostRace
from infra.dynamodb.codec import Packed, StoredCommit, Unpacking, body_uri, digest_of, pack
from infra.dynamodb.keys import Item
from infra.dynamodb.payloads import Payloads
from infra.dynamodb.table import Table


async def write_commit(table: Table, payloads: Payloads, commit: Commit) -> Packed:
    """Write the commit if its number is free; the same commit again succeeds. Raises LostRace, StoreUnavailable.

    put payloads  →  PutItem, if nothing is there  →  what is there has our digest: ours, whoever wrote it
                                                   →  another digest: lost
    """
    packed = pack(commit, payloads.bucket)
    await payloads.put(packed.payloads)
    there = await table.put_new(packed.item)
    if there is not None and digest_of(there) != commit.digest:
        raise LostRace(f"{commit.thread_id!r}: commit {commit.number} was made by another slice")
    return packed


async def whole_commits(payloads: Payloads, items: list[Item]) -> list[StoredCommit]:
    """The commits of `items`, large values filled in; a block that is gone is a stored block with a note."""
    bodies = await payloads.get([uri for item in items if (uri := body_uri(item)) is not None])
    unpacking = [Unpacking(item, bodies) for item in items]
    texts = await payloads.get([uri for one in unpacking for uri in one.uris])
    return [one.commit(texts) for one in unpacking]
