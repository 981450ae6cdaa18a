"""Parked bodies as people handle them: listed by pages, found by id, removed for good."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from core.errors import MisuseError
from core.ports import ParkedBody
from infra.dynamodb.keys import Item
from infra.dynamodb.parked import guard_key, id_of, key_guarded_by, parked_of, parked_span, uri_of
from infra.dynamodb.payloads import address
from infra.operations.access import Access

PAGE = 100


@dataclass(frozen=True, slots=True)
class KeptBody:
    """One parked body, where it is kept, and the id by which people name it."""

    id: str
    parked: ParkedBody
    key: Item
    uri: str | None = None
    """Where the body lies, if it is not in the item."""
    gone: bool = False
    """The body is no longer stored."""

    @property
    def place(self) -> str:
        """Where a list goes on after this one."""
        return str(self.key["sk"]["S"])


async def parked_after(access: Access, after: str | None, limit: int) -> tuple[KeptBody, ...]:
    """At most `limit` bodies, oldest first: from the beginning, or those behind the place `after`."""
    items: list[Item] = []
    start: Item | None = None
    while len(items) < limit:
        # One more than wanted: the one at `after` is there, or has been removed since.
        page = await access.table.page(parked_span(after, limit - len(items) + 1), start)
        items += [item for item in page.items if item["sk"]["S"] != after]
        start = page.next_key
        if start is None:
            break
    return await _kept(access, items[:limit])


async def all_parked(access: Access) -> AsyncIterator[KeptBody]:
    """Every body that is there now, oldest first, page by page: what is parked again meanwhile comes after them."""
    newest = await access.table.page(replace(parked_span(None, 1), newest_first=True))
    last = newest.items[0]["sk"]["S"] if newest.items else ""
    after: str | None = None
    while page := await parked_after(access, after, PAGE):
        for kept in page:
            if kept.place <= last:
                yield kept
        after = page[-1].place


async def find_parked(access: Access, known_by: str) -> KeptBody:
    """The body of that id. Raises MisuseError if there is none."""
    guards = await access.table.batch_get([guard_key(known_by)])
    items = await access.table.batch_get([key_guarded_by(guards[0])]) if guards else []
    if not items:
        raise MisuseError(f"no parked body has the id {known_by!r}: `torpor dlq list` shows what there is")
    (kept,) = await _kept(access, items)
    return kept


async def remove_parked(access: Access, kept: KeptBody) -> None:
    """Remove the body for good. Cut off in between, it is still listed, or may park again: its text goes first, its
    guard last.
    """
    if kept.uri is not None and f"/parked/{kept.id}/" in kept.uri:  # its own: older ones were shared
        bucket, key = address(kept.uri)
        await access.patience.ask("delete payload", lambda: access.s3.delete_object(Bucket=bucket, Key=key))
    await access.table.delete(kept.key)
    await access.table.delete(guard_key(kept.id))


async def _kept(access: Access, items: list[Item]) -> tuple[KeptBody, ...]:
    texts = await access.payloads.get([uri for item in items if (uri := uri_of(item)) is not None])
    return tuple(
        KeptBody(
            id_of(item),
            parked_of(item, texts),
            {"pk": item["pk"], "sk": item["sk"]},
            uri := uri_of(item),
            uri is not None and texts[uri] is None,
        )
        for item in items
    )
