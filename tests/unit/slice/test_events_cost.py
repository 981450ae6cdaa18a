"""The last of many events costs what the first did: as many commits, messages and bytes (invariant *bounded*)."""

from collections.abc import Sequence
from typing import Any

import pytest

from core.commit import Commit, commit_text
from infra.memory import MemoryStore
from tests.support.rules import FETCH, on
from tests.support.tree import ROOT, Tree, tree

FIRST, LAST = 12, 44
"""Between them every number has as many digits."""


class _Writing(MemoryStore):
    """Keeps the size of everything written, and counts requests."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.requests: list[str] = []
        self.bytes_written = 0

    async def load(self, *arguments: Any) -> Any:
        self.requests.append("load")
        return await super().load(*arguments)

    async def inherit(self, *arguments: Any) -> Any:
        self.requests.append("inherit")
        return await super().inherit(*arguments)

    async def commit(self, commit: Commit) -> None:
        self.requests.append("commit")
        self.bytes_written += len(commit_text(commit))
        await super().commit(commit)

    async def settled(self, commit: Commit, *, waiting: bool) -> None:
        self.requests.append("settled")
        await super().settled(commit, waiting=waiting)


async def _watching(store: MemoryStore, *rules: Any) -> tuple[Tree, str]:
    one = tree(
        [on(FETCH, user="watch"), on(says="watching", tool_result="fetch"), *rules, on(says="seen")],
        store=store,
    )
    await one.say("watch")
    (call_id,) = await one.live()
    await one.answer(content="subscribed", subscription=True)
    return one, call_id


async def _costs(
    one: Tree, store: _Writing, event: dict[str, Any]
) -> Sequence[tuple[tuple[str, ...], int, int]]:
    """What each event costs: requests, bytes written, messages sent."""
    costs = []
    for number in range(LAST):
        before, sent = store.bytes_written, len(one.world.dispatcher.sent)
        store.requests.clear()
        await one.tell("subscription_event", event_id=f"e{number:05}", message_id=f"m{number:05}", **event)
        costs.append(
            (tuple(store.requests), store.bytes_written - before, len(one.world.dispatcher.sent) - sent)
        )
    return costs[FIRST:]


@pytest.mark.parametrize("kind", ["associative", "deferred", "with a child"])
async def test_each_event_of_many_costs_the_same(kind: str) -> None:
    store = _Writing()
    one, call_id = await _watching(store, on(FETCH, user="busy"))
    if kind == "deferred":
        await one.say("busy")
    event: dict[str, Any] = {"call_id": call_id, "content": "news", "associative": kind != "with a child"}
    costs = await _costs(one, store, event)
    assert len(set(costs)) == 1
    requests, written, sent = costs[0]
    slices = {"associative": 1, "deferred": 1, "with a child": 3}[kind]
    assert requests.count("load") == requests.count("commit") == requests.count("settled") == slices
    assert sent == {"associative": 1, "deferred": 0, "with a child": 5}[kind]
    assert written < 4_000
    assert (await one.state(ROOT)).children == ()
