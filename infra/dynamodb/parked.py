"""Parked bodies: what no thread can take, in a partition of its own, listed by when it was first seen.

A body is known by source, message id and content. A guard item, written first and never again, holds when it was first
seen, so that it parks once however often it comes, and a writer that died in between is completed by the next.
"""

from collections.abc import Mapping
from typing import Any, Final

from core.clock import iso, parse_iso
from core.ids import digest
from core.ports import ParkedBody
from core.text import canonical_json
from infra.dynamodb.keys import PARKED, Item, item_key
from infra.dynamodb.large import GONE_NOTE, parsed
from infra.dynamodb.payloads import Payloads, payload_for
from infra.dynamodb.table import Span, Table

_LARGE_BYTES: Final = 4 * 1024
"""A record that is longer goes to S3: a partition takes 1,000 write units a second, one per KB, and this one is
everybody's."""
_RECORD: Final = "j"
_BODY: Final = "s3"
"""Where the body lies, if it is not in the record."""
_SORT_KEY: Final = "at"
_EARLIEST, _LATEST = "0", "9~"
"""Around every ISO instant; guards begin with a letter."""


def parked_id(parked: ParkedBody) -> str:
    """What the body is known by."""
    return digest(parked.source, parked.message_id, parked.body)


async def park(table: Table, payloads: Payloads, parked: ParkedBody) -> None:
    """Keep the body. Idempotent; the first one's reason and instant stay."""
    known_by = parked_id(parked)
    sort_key = f"{iso(parked.first_seen)}#{known_by}"
    record: dict[str, Any] = {
        "source": parked.source,
        "reason": parked.reason,
        "first_seen": iso(parked.first_seen),
        "message_id": parked.message_id,
        "body": parked.body,
        **({} if parked.sender is None else {"sender": parked.sender}),
    }
    extra: Item = {}
    if len(canonical_json(record)) > _LARGE_BYTES:
        owner = f"parked/{known_by}"  # its own, so that it can go with it
        payload = payload_for(payloads.bucket, owner, canonical_json(record.pop("body")))
        await payloads.put([payload])
        extra = {_BODY: {"S": payload.uri}}
    item = item_key(PARKED, sort_key) | {_RECORD: {"S": canonical_json(record)}} | extra
    guard = guard_key(known_by) | {_SORT_KEY: {"S": sort_key}}
    first = await table.put_new(guard)
    if first is None or first[_SORT_KEY]["S"] == sort_key:
        await table.put_new(item)
    else:
        await _complete(table, item, first[_SORT_KEY]["S"])


async def _complete(table: Table, item: Item, first_sort_key: str) -> None:
    """Put the item where its first writer was to put it, unless it is there."""
    record = parsed(item[_RECORD]["S"]) | {"first_seen": first_sort_key.partition("#")[0]}
    await table.put_new(item | item_key(PARKED, first_sort_key) | {_RECORD: {"S": canonical_json(record)}})


async def read_parked(table: Table, payloads: Payloads, limit: int) -> tuple[ParkedBody, ...]:
    """The first `limit` bodies, oldest first. One that is gone from S3 is replaced by a note."""
    items: list[Item] = []
    start: Item | None = None
    while len(items) < limit:
        page = await table.page(Span(PARKED, _EARLIEST, _LATEST, limit=limit - len(items)), start)
        items += page.items
        start = page.next_key
        if start is None:
            break
    return await _whole(payloads, items)


async def read_parked_lately(table: Table, payloads: Payloads, limit: int) -> tuple[ParkedBody, ...]:
    """The newest `limit` bodies at most, newest first: as many as one request gives."""
    page = await table.page(Span(PARKED, _EARLIEST, _LATEST, newest_first=True, limit=limit))
    return await _whole(payloads, page.items)


async def _whole(payloads: Payloads, items: list[Item]) -> tuple[ParkedBody, ...]:
    bodies = await payloads.get([item[_BODY]["S"] for item in items if _BODY in item])
    return tuple(parked_of(item, bodies) for item in items)


def parked_of(item: Item, bodies: Mapping[str, str | None]) -> ParkedBody:
    """The body of an item; `bodies`: those in S3 by address. One that is gone is replaced by a note."""
    record = parsed(item[_RECORD]["S"])
    if _BODY in item:
        text = bodies[item[_BODY]["S"]]
        record["body"] = GONE_NOTE if text is None else parsed(text)
    return ParkedBody(**{**record, "first_seen": parse_iso(record["first_seen"])})


def id_of(item: Item) -> str:
    """What the body of an item is known by."""
    return str(item["sk"]["S"]).rpartition("#")[2]


def uri_of(item: Item) -> str | None:
    """Where the body lies, if it is not in the record."""
    return str(item[_BODY]["S"]) if _BODY in item else None


def guard_key(known_by: str) -> Item:
    """The key of the guard item of a body."""
    return item_key(PARKED, f"ID#{known_by}")


def key_guarded_by(guard: Item) -> Item:
    """The key of the item that a guard stands for."""
    return item_key(PARKED, guard[_SORT_KEY]["S"])


def parked_span(after: str | None, limit: int) -> Span:
    """Parked items, oldest first, from the sort key `after` on, that one included."""
    return Span(PARKED, after or _EARLIEST, _LATEST, limit=limit)
