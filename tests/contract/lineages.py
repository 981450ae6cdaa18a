"""Trees of threads for store tests: logs of plain turns, and children that inherit from them."""

from typing import Any

from core.commit import Commit
from core.outbox import SendSpawn
from core.ports import ThreadStore
from core.thread import Ancestor, Origin
from tests.contract.commits import THREAD, settle, turn, with_base

CHILD, GRANDCHILD = f"{THREAD}~child", f"{THREAD}~grandchild"


async def grow(store: ThreadStore, thread_id: str, turns: int, **first: Any) -> list[Commit]:
    """A log of so many turns, each entry's text naming its thread. `first`: more of the first commit."""
    commits = [
        turn(
            number,
            f"{thread_id} {number}",
            thread_id=thread_id,
            **(first if number == 1 else {}),
        )
        for number in range(1, turns + 1)
    ]
    for commit in commits:
        await settle(store, commit)
    return commits


async def compact(store: ThreadStore, before: list[Commit], up_to_seq: int) -> Commit:
    """A base after `before`, which holds plain turns only."""
    number = before[-1].number + 1
    holding = min(number, up_to_seq // 2 + 1)
    base = with_base(number, before, up_to_seq=up_to_seq, from_number=holding)
    await settle(store, base)
    return base


async def located(store: ThreadStore, thread_id: str, seq: int) -> Ancestor:
    ancestor = await store.locate(thread_id, seq)
    assert ancestor is not None
    return ancestor


def inheriting(*lineage: Ancestor) -> Origin:
    """Of a child of the last one."""
    return Origin(ancestors=tuple(ancestor.thread_id for ancestor in lineage), lineage=lineage)


def spawn(thread_id: str, *lineage: Ancestor, **more: Any) -> SendSpawn:
    fields: dict[str, Any] = {"call_id": "call_1", "child_kind": "spawned", "credit": 0} | more
    return SendSpawn(thread_id=thread_id, lineage=lineage, **fields)
