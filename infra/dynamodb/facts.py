"""What is said about a thread beside its commits: tip, markers and the root's metadata, in one BatchGetItem."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.ids import root_of
from core.messages import MARKED_TYPES, InputKey
from infra.dynamodb.keys import (
    DIGEST,
    META,
    METADATA_PREFIX,
    NUMBER,
    TIP,
    Item,
    item_key,
    marker_sort_key,
    number_of,
    partition,
)
from infra.dynamodb.large import parsed
from infra.dynamodb.table import Table


@dataclass(frozen=True, slots=True)
class Facts:
    """Read after the newest commit was seen, so complete up to it."""

    tip: int
    markers: Mapping[InputKey, str]
    metadata: Mapping[str, Any]
    newest: int
    """The highest commit number that tip or markers speak of."""


async def read_facts(table: Table, thread_id: str, keys: Sequence[InputKey]) -> Facts:
    """`keys` of types without markers cost nothing."""
    own, root = partition(thread_id), partition(root_of(thread_id))
    marked = {key: marker_sort_key(key) for key in keys if key.type in MARKED_TYPES}
    wanted = [item_key(own, TIP), item_key(root, META), *(item_key(own, sk) for sk in marked.values())]
    found = {(item["pk"]["S"], item["sk"]["S"]): item for item in await table.batch_get(wanted)}
    tip = number_of(found.get((own, TIP)))
    markers = {key: item for key, sk in marked.items() if (item := found.get((own, sk))) is not None}
    return Facts(
        tip=tip,
        markers={key: str(item[DIGEST]["S"]) for key, item in markers.items()},
        metadata=_metadata(found.get((root, META), {})),
        newest=max([tip, *(number_of(item) for item in markers.values())]),
    )


async def read_marker(table: Table, thread_id: str, key: InputKey) -> int | None:
    """As `LogReader.taken_in`."""
    number = await table.get(item_key(partition(thread_id), marker_sort_key(key)), NUMBER)
    return None if number is None else int(number["N"])


def _metadata(item: Item) -> dict[str, Any]:
    return {
        name.removeprefix(METADATA_PREFIX): parsed(value["S"])
        for name, value in sorted(item.items())
        if name.startswith(METADATA_PREFIX)
    }
