"""The last of many events costs what the first did: as many commits, messages and bytes, and no more to load the thread
where nobody has it warm (invariant *bounded*).
"""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from core.commit import Commit, commit_text
from core.history.checkpoints import COMMITS
from infra.memory import MemoryStore
from tests.support.rules import FETCH, Call, on
from tests.support.tree import ROOT, Tree, tree

FIRST, LAST = 12, 44
"""Between them every number has as many digits."""


class _Writing(MemoryStore):
    """Keeps the size of everything written, and counts requests. All loads are cold."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.requests: list[str] = []
        self.bytes_written = 0
        self.sizes: dict[tuple[str, int], int] = {}
        self.rows_read: list[int] = []
        self.bytes_read: list[int] = []

    async def load(self, *arguments: Any) -> Any:
        self.requests.append("load")
        loaded = await super().load(*arguments)
        if loaded.last is not None:
            thread_id, state = loaded.last.thread_id, loaded.folded.state
            rows = [self.sizes[thread_id, number] for number in range(state.from_number, state.number + 1)]
            self.rows_read.append(len(rows))
            self.bytes_read.append(sum(rows))
        return loaded

    async def inherit(self, *arguments: Any) -> Any:
        self.requests.append("inherit")
        return await super().inherit(*arguments)

    async def commit(self, commit: Commit) -> None:
        self.requests.append("commit")
        self.sizes[commit.thread_id, commit.number] = size_bytes = len(commit_text(commit))
        self.bytes_written += size_bytes
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


SLEEP: Call = ("sleep_until_event_or_input", {})


async def _heard(one: Tree, call_id: str, first: int, last: int) -> None:
    """So many events, each dealt with by a child that ends silently; the child itself takes no slice here."""
    for number in range(first, last):
        await one.visit(one.message("subscription_event", call_id=call_id, content=f"news {number:05}"))
        bodies = [json.loads(sent.body) for sent in one.world.dispatcher.sent[-2:]]
        spawn = next(body for body in bodies if body["type"] == "spawn")
        told = {"child_thread_id": spawn["thread_id"], "credit": spawn["credit"], "closing": True}
        await one.visit(one.message("thread_report", call_id=call_id, **told))


async def _resting(parent: str, store: _Writing) -> tuple[Tree, str]:
    """A parent that takes no turn: it waits for nothing, for a call (and an event waits with it), or sleeps."""
    one, call_id = await _watching(store, on(FETCH, user="work"), on(SLEEP, user="sleep"))
    if parent != "at rest":
        await one.say(parent)
    if parent == "work":
        await one.tell("subscription_event", call_id=call_id, content="for later", associative=True)
    return one, call_id


@pytest.mark.parametrize("parent", ["at rest", "work", "sleep"])
async def test_a_cold_load_of_a_parent_reads_no_more_after_many_events(parent: str) -> None:
    store = _Writing()
    one, call_id = await _resting(parent, store)
    before = await one.state()
    await _heard(one, call_id, 0, COMMITS // 2)
    few = max(store.rows_read), max(store.bytes_read)
    await _heard(one, call_id, COMMITS // 2, COMMITS + 2)
    assert max(store.rows_read) == few[0] <= COMMITS + 4
    assert max(store.bytes_read) < 1.1 * few[1]
    after = await one.state()
    assert (after.live, after.deferred, after.credit) == (before.live, before.deferred, before.credit)
    assert (await one.manager()).history == await one.entries()
    await one.tell("subscription_event", call_id=call_id, content="news at last")
    inherited = (await one.manager(one.children[-1])).inherited.entries
    assert inherited == (await one.entries())[: len(inherited)]
    assert len(inherited) == 4 + (parent != "at rest")


@pytest.mark.slow
async def test_ten_thousand_events_with_a_child_each_cost_what_the_first_did() -> None:
    store = _Writing()
    one, call_id = await _watching(store)
    await _heard(one, call_id, 0, 100)
    written, few = store.bytes_written, (max(store.rows_read), max(store.bytes_read))
    await _heard(one, call_id, 100, 9_900)
    middle = store.bytes_written
    await _heard(one, call_id, 9_900, 10_000)
    assert store.bytes_written - middle < 1.1 * written
    assert max(store.rows_read) == few[0]
    assert max(store.bytes_read) < 1.1 * few[1]
    assert (await one.state()).number > 20_000
