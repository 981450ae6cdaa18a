"""Forks, over both stores: a new root with the history up to a safe point, and nothing else of the original."""

import asyncio

import pytest

from core.changes import CallOpened, Change, InputDeferred, MetadataSet, SubscriptionOpened
from core.commit import Commit
from core.entries import Assistant, Entry, Reasoning, ToolCall, ToolResult
from core.errors import MisuseError
from core.fork import fork
from core.history import HistoryManager
from core.thread import Deferred, ForkPoint, Origin, Subscription, ThreadState
from tests.contract.commits import THREAD, made, settle, texts, turn, user, with_metadata
from tests.contract.lineages import CHILD, compact, grow, inheriting, located
from tests.contract.stores import Opened, Stores

NEW = "new"
CALL = ToolCall(call_id="call_1", name="search", args={})
BUSY: list[Entry] = [
    user("one"),  # 1
    Assistant(text="two"),  # 2
    user("three"),  # 3
    Reasoning(text="four"),  # 4
    CALL,  # 5
    CALL.model_copy(update={"call_id": "call_2"}),  # 6
    ToolResult(call_id="call_2", content=()),  # 7
    ToolResult(call_id="call_1", content=()),  # 8
    Reasoning(text="nine"),  # 9
    CALL.model_copy(update={"call_id": "call_3"}),  # 10
]


async def forked(opened: Opened, thread_id: str = NEW) -> HistoryManager:
    return await HistoryManager.new_with_history(opened.another(), thread_id)


async def everything(opened: Opened, thread_id: str = THREAD) -> tuple[object, ...]:
    """What a fork must leave as it is."""
    loaded = await opened.another().load(thread_id)
    return loaded, await opened.another().entries(thread_id)


async def test_a_fork_is_a_root_with_the_history_up_to_a_point(stores: Stores) -> None:
    async with stores.open() as opened:
        origin = Origin(agent="researcher")
        log = [turn(1, changes=with_metadata(1, user_id="u").changes, origin=origin), turn(2), turn(3)]
        for commit in log:
            await settle(opened.store, commit)
        before = await everything(opened)
        assert await fork(opened.store, THREAD, 4, NEW) == ForkPoint(thread_id=THREAD, seq=4)
        manager = await forked(opened)
        assert texts(manager.history) == ["question 1", "answer 1", "question 2", "answer 2"]
        assert manager.metadata == {"user_id": "u"}
        assert manager.thread_stack == (NEW,)
        assert manager.unsettled is None
        assert manager.state.origin.agent == "researcher"
        assert manager.state.origin.forked_from == ForkPoint(thread_id=THREAD, seq=4)
        assert await everything(opened) == before
        assert await opened.store.readers(THREAD) == (NEW,)


@pytest.mark.parametrize(
    ("at_seq", "cut"),
    [(1, 1), (2, 2), (3, 3), (4, 3), (5, 3), (6, 3), (7, 3), (8, 8), (9, 8), (10, 8)],
)
async def test_a_fork_begins_at_the_safe_point_at_or_before(stores: Stores, at_seq: int, cut: int) -> None:
    async with stores.open() as opened:
        await settle(opened.store, made(1, BUSY))
        assert (await fork(opened.store, THREAD, at_seq, NEW)).seq == cut
        assert [entry.seq for entry in (await forked(opened)).history] == list(range(1, cut + 1))


async def test_nothing_live_open_or_deferred_comes_along(stores: Stores) -> None:
    async with stores.open() as opened:
        changes: list[Change] = [
            CallOpened(call_id="call_3", worker="web", passive=True),
            SubscriptionOpened(subscription=Subscription(call_id="call_1", name="search")),
            InputDeferred(deferred=Deferred(entry=user("later"), message_id="m9")),
        ]
        await settle(opened.store, made(1, BUSY, changes=changes))
        await fork(opened.store, THREAD, 10, NEW)
        state = (await forked(opened)).state
        known = {"number": 1, "digest": state.digest, "birth": state.birth, "origin": state.origin}
        assert state == ThreadState(**known)
        assert state.birth not in ("", "birth")


async def test_metadata_of_a_commit_that_is_not_settled_comes_along(stores: Stores) -> None:
    async with stores.open() as opened:
        await settle(opened.store, with_metadata(1, user_id="u", kept=1))
        await opened.store.commit(with_metadata(2, user_id="newer"))
        await fork(opened.store, THREAD, 1, NEW)
        assert (await forked(opened)).metadata == {"user_id": "newer", "kept": 1}


async def test_a_fork_works_behind_a_summary_and_at_it(stores: Stores) -> None:
    async with stores.open() as opened:
        base = await compact(opened.store, await grow(opened.store, THREAD, 4), up_to_seq=4)
        for at_seq, shown in ((3, [1, 2, 3]), (4, []), (6, [5, 6])):
            assert (await fork(opened.store, THREAD, at_seq, f"at-{at_seq}")).seq == at_seq
            manager = await forked(opened, f"at-{at_seq}")
            assert [entry.seq for entry in manager.history] == shown
            assert (manager.summary == (base.base and base.base.summary)) == (at_seq >= 4)


async def test_a_fork_of_a_child_is_a_root_that_knows_where_it_is_from(stores: Stores) -> None:
    async with stores.open() as opened:
        metadata = MetadataSet(values={"user_id": "u"})
        await grow(opened.store, THREAD, 2, changes=[metadata])
        origin = inheriting(await located(opened.store, THREAD, 3))
        await grow(opened.store, CHILD, 2, origin=origin)
        await fork(opened.store, CHILD, 2, NEW)
        manager = await forked(opened)
        texts_above = [f"{THREAD} 1", "answer 1", f"{THREAD} 2"]
        assert texts(manager.history) == [*texts_above, f"{CHILD} 1", "answer 1"]
        assert (manager.thread_stack, manager.metadata) == ((NEW,), {"user_id": "u"})
        assert manager.state.origin.forked_from == ForkPoint(thread_id=CHILD, seq=2)
        for log in (THREAD, CHILD):
            assert NEW in await opened.store.readers(log)


async def test_a_fork_of_a_fork(stores: Stores) -> None:
    async with stores.open() as opened:
        await grow(opened.store, THREAD, 2)
        await fork(opened.store, THREAD, 3, NEW)
        mine = turn(2, "mine", thread_id=NEW, first_seq=1)
        await settle(opened.store, mine)
        await fork(opened.store, NEW, 1, "newer")
        shown = texts((await forked(opened, "newer")).history)
        assert shown == [f"{THREAD} 1", "answer 1", f"{THREAD} 2", "mine"]


async def test_the_same_fork_again_is_a_success_whatever_came_of_it(stores: Stores) -> None:
    async with stores.open() as opened:
        await settle(opened.store, made(1, BUSY))
        point = await fork(opened.store, THREAD, 3, NEW)
        manager = await forked(opened)
        manager.handle_content(user("mine"), "m1")
        await manager.sync()
        before = await everything(opened, NEW)
        assert await fork(opened.another(), THREAD, 5, NEW) == point
        assert await everything(opened, NEW) == before


async def test_two_who_make_the_same_fork_at_once(stores: Stores) -> None:
    async with stores.open() as opened:
        await grow(opened.store, THREAD, 1)
        makers = [opened.store, opened.another(), opened.another()]
        points = await asyncio.gather(*(fork(store, THREAD, 2, NEW) for store in makers))
        assert set(points) == {ForkPoint(thread_id=THREAD, seq=2)}
        assert len((await forked(opened)).history) == 2


async def refused_fork(opened: Opened, why: str, thread_id: str = THREAD, at: int = 2, to: str = NEW) -> None:
    with pytest.raises(MisuseError, match=why):
        await fork(opened.store, thread_id, at, to)
    assert await opened.store.readers(THREAD) == ()


async def test_what_cannot_be_forked_is_refused_before_anything_is_written(stores: Stores) -> None:
    async with stores.open() as opened:
        log: list[Commit] = [turn(1), turn(1, "other", thread_id="taken"), made(1, [CALL], thread_id="busy")]
        for commit in log:
            await settle(opened.store, commit)
        await refused_fork(opened, "no thread", thread_id="nobody")
        for at in (0, -1, 3, 10**9):
            await refused_fork(opened, "no entry", at=at)
        await refused_fork(opened, "no safe point", thread_id="busy", at=1)
        for to in ("", "a~b", "é", "x" * 101):
            await refused_fork(opened, "cannot name", to=to)
        for to in ("taken", THREAD):
            await refused_fork(opened, "taken", to=to)
