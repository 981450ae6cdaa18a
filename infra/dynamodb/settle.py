"""What is written once a commit is durable: markers, `SUM#`, `READER#`, `META`, at last the tip (storage.md, Settle).

All of it may be written twice, and late: by then newer commits may have been settled, and nothing of theirs is undone.
"""

from datetime import datetime
from itertools import islice
from typing import Any, Final

from core.commit import Commit, Consumed, metadata_set
from core.erasing import ERASED_LIFETIME
from core.ids import is_child
from core.text import canonical_json
from infra.dynamodb.keys import (
    DIGEST,
    EXPIRES_AT,
    FROM,
    META,
    METADATA_PREFIX,
    NUMBER,
    TIP,
    Item,
    epoch,
    item_key,
    marker_sort_key,
    partition,
    reader_sort_key,
    summary_sort_key,
)
from infra.dynamodb.requests import parallel
from infra.dynamodb.table import Table, Update
from infra.store_rules import marked_inputs, marker_expires_at, readers_made, summary_made

_KEYS_AT_ONCE: Final = 100
"""Metadata keys in one update expression, well under its 4 KB."""
_BEHIND: Final = "attribute_not_exists(#n) OR #n < :n"
_NOT_AHEAD: Final = "attribute_not_exists(#n) OR #n <= :n"


async def mark(table: Table, commit: Commit) -> None:
    """Write markers, `SUM#` and readers together, in parallel with metadata."""
    items = [_marker(commit, taken) for taken in marked_inputs(commit)]
    if (up_to_seq := summary_made(commit)) is not None:
        items.append(_summary(commit, up_to_seq))
    items += [item_key(partition(log), reader_sort_key(reader)) for log, reader in readers_made(commit)]
    metadata = metadata_set(commit)
    async with parallel() as group:
        if items:
            group.create_task(table.batch_put(items))
        if metadata:
            group.create_task(_set_metadata(table, commit, metadata))


async def move_tip(table: Table, commit: Commit, *, expires_at: datetime | None) -> None:
    """Move the tip to the commit unless it is there or past it. `expires_at` None: the thread does not expire."""
    names = {"#n": NUMBER, "#e": EXPIRES_AT}
    values: dict[str, Any] = {":n": _number(commit)}
    expression = "SET #n = :n REMOVE #e"
    if expires_at is not None:
        values[":e"] = epoch(expires_at)
        expression = "SET #n = :n, #e = :e"
    key = item_key(partition(commit.thread_id), TIP)
    await table.update(Update(key, expression, _BEHIND, names, values))


async def look_again(table: Table, thread_id: str, at: datetime) -> None:
    """Where the tip has gone, put one without a number, which expires `at`: to readers it is none."""
    item = item_key(partition(thread_id), TIP) | {EXPIRES_AT: epoch(at)}
    await table.put_if(item, "attribute_not_exists(#n)", {"ExpressionAttributeNames": {"#n": NUMBER}})


async def empty_metadata(table: Table, thread_id: str, number: int, at: datetime) -> None:
    """Leave a root's `META` without metadata, as of the commit `number`, which ended its log `at` then or before.

    Nothing older is set any more; what a newer commit has set stays.
    """
    if is_child(thread_id):
        return
    item = item_key(partition(thread_id), META) | {
        NUMBER: {"N": str(number)},
        EXPIRES_AT: epoch(at + ERASED_LIFETIME),
    }
    named = {"ExpressionAttributeNames": {"#n": NUMBER}, "ExpressionAttributeValues": {":n": item[NUMBER]}}
    await table.put_if(item, _BEHIND, named)


async def _set_metadata(table: Table, commit: Commit, metadata: dict[str, Any]) -> None:
    """Usually one update; each leaves a newer commit's values alone, and the same commit's may be set again. What an
    erased log left in its place expires no more.
    """
    key = item_key(partition(commit.thread_id), META)
    pairs = iter(metadata.items())
    while chunk := list(islice(pairs, _KEYS_AT_ONCE)):
        names = {"#n": NUMBER, "#e": EXPIRES_AT}
        values: dict[str, Any] = {":n": _number(commit)}
        for index, (name, value) in enumerate(chunk):
            names[f"#{index}"] = METADATA_PREFIX + name
            values[f":{index}"] = {"S": canonical_json(value)}
        settings = ", ".join(f"#{index} = :{index}" for index in range(len(chunk)))
        await table.update(Update(key, f"SET #n = :n, {settings} REMOVE #e", _NOT_AHEAD, names, values))


def _marker(commit: Commit, taken: Consumed) -> Item:
    return item_key(partition(commit.thread_id), marker_sort_key(taken.key)) | {
        NUMBER: _number(commit),
        DIGEST: {"S": taken.body_digest},
        EXPIRES_AT: epoch(marker_expires_at(commit)),
    }


def _summary(commit: Commit, up_to_seq: int) -> Item:
    return item_key(partition(commit.thread_id), summary_sort_key(up_to_seq)) | {
        NUMBER: _number(commit),
        FROM: {"N": str(commit.from_number)},
    }


def _number(commit: Commit) -> dict[str, str]:
    return {"N": str(commit.number)}
