"""Erasing a thread, over both stores: what goes, what stays, and what its id is good for then."""

from datetime import timedelta

import pytest

from core.blocks import text_content
from core.changes import ChildOpened
from core.entries import ToolCall, ToolResult
from core.erasing import erase, erase_tree
from core.errors import LostRace
from core.fork import fork
from core.history import HistoryManager
from core.keeping import Kept, Nothing, Removed
from core.messages import InputKey
from core.outbox import SendError
from core.thread import Ancestor, Child, ForkPoint, Origin
from tests.contract.commits import THREAD, key, made, settle, texts, turn, user
from tests.contract.erasing import conversation, history, later, removed, say, traces
from tests.contract.lineages import CHILD, GRANDCHILD, compact, grow, inheriting, located, spawn
from tests.contract.stores import KeepsThreads, Stores

CALL = ToolCall(call_id="call_1", name="search", args={})


async def test_an_erased_thread_holds_nothing_and_does_not_exist(stores: Stores) -> None:
    async with stores.open() as opened:
        await conversation(opened)
        store = opened.keeper()
        assert removed(await erase(store, THREAD, opened.clock)) == 3
        loaded = await store.load(THREAD, [key(2)])
        assert not loaded.folded.state.exists
        assert loaded.metadata == {}
        assert await history(store) == []
        assert await store.locate(THREAD, 2) is None
        assert loaded.markers == {key(2): "body of m2"}, "a message that comes again is a duplicate"
        assert await traces(opened) == {"C", "TIP", "META", "MSG"}


async def test_an_id_can_be_used_again_and_nothing_old_enters_the_new_log(stores: Stores) -> None:
    async with stores.open() as opened:
        store = opened.keeper()
        await conversation(opened, 1)
        await settle(store, made(2, [user("two"), CALL], first_seq=3), waiting=True)
        before = await HistoryManager.new_with_history(store, THREAD)
        removed(await erase(store, THREAD, opened.clock))
        assert not await say(store, "again", message_id="m1")
        assert await say(store, "new")
        assert await history(store) == ["new"]
        manager = await HistoryManager.new_with_history(store, THREAD)
        assert manager.draft.birth != before.draft.birth
        assert [entry.seq for entry in manager.history] == [5], "numbers go on"
        late = ToolResult(call_id="call_1", content=text_content("late"))
        assert not manager.handle_content(late, "late"), "no call of the new log has an old call's id"
        assert manager.state.origin == Origin()
        assert removed(await erase(store, THREAD, opened.clock)) == 2


async def test_an_old_invocation_finds_the_numbers_of_an_erased_log_taken(stores: Stores) -> None:
    async with stores.open() as opened:
        store = opened.keeper()
        await conversation(opened, 2)
        last = await HistoryManager.new_with_history(opened.another(), THREAD)
        removed(await erase(store, THREAD, opened.clock))
        for number in (1, 2, 3):
            with pytest.raises(LostRace):
                await store.commit(turn(number, "from the dead"))
        last.handle_content(user("late"), "late")
        with pytest.raises(LostRace):
            await last.sync()
        assert await history(store) == []


async def test_whoever_settles_an_erased_commit_once_more_brings_nothing_back(stores: Stores) -> None:
    async with stores.open() as opened:
        store = opened.keeper()
        commits = await grow(store, THREAD, 2)
        base = await compact(store, commits, 2)
        removed(await erase(store, THREAD, opened.clock))
        for commit in (*commits, base):
            await store.mark(commit)
            await store.settled(commit, waiting=False)
        assert await say(store, "new")
        assert await history(store) == ["new"]
        log = await located(store, THREAD, 5)
        await settle(store, made(1, thread_id=CHILD, first_seq=1, origin=inheriting(log)))
        assert texts((await store.load(CHILD)).inherited.entries) == ["new"]


async def test_a_log_that_others_read_is_not_erased(stores: Stores) -> None:
    async with stores.open() as opened:
        store = opened.keeper()
        await conversation(opened)
        await fork(store, THREAD, 4, "fork", clock=opened.clock)
        assert await erase(store, THREAD, opened.clock) == Kept(THREAD, "readers", ("fork",))
        assert len(await history(store)) == 6
        outcome = await erase(store, "fork", opened.clock)
        assert isinstance(outcome, Removed)
        assert outcome.freed == (THREAD,)
        assert await store.readers(THREAD) == ()
        removed(await erase(store, THREAD, opened.clock))


async def test_a_fork_that_lost_its_id_keeps_nothing(stores: Stores) -> None:
    async with stores.open() as opened:
        store = opened.keeper()
        await conversation(opened)
        await settle(store, turn(1, thread_id="taken"))
        await store.mark(made(1, thread_id="taken", origin=_forked(await located(store, THREAD, 2))))
        await store.mark(made(1, thread_id="never", origin=_forked(await located(store, THREAD, 2))))
        assert set(await store.readers(THREAD)) == {"never", "taken"}
        removed(await erase(store, THREAD, opened.clock))
        assert await store.readers(THREAD) == ()
        with pytest.raises(LostRace):
            await store.commit(turn(1, thread_id="never"))
        assert await history(store, "taken") == ["question 1", "answer 1"]
        assert "never" in await later(opened, days=61), "the end that keeps it from beginning goes too"


async def test_a_child_is_not_erased_while_its_parent_waits_for_its_end(stores: Stores) -> None:
    async with stores.open() as opened:
        store = opened.keeper()
        opening = ChildOpened(child=Child(thread_id=CHILD, call_id="call_1"))
        await settle(store, turn(1, changes=[opening], outbox=[spawn(CHILD)]), waiting=True)
        await settle(store, turn(1, thread_id=CHILD, origin=Origin(ancestors=(THREAD,))))
        assert await erase(store, CHILD, opened.clock) == Kept(CHILD, "parent", (THREAD,))
        assert await erase(store, THREAD, opened.clock) == Kept(THREAD, "children", (CHILD,))
        assert await erase_tree(store, THREAD, opened.clock) == (
            Kept(CHILD, "parent", (THREAD,)),
            Kept(THREAD, "children", (CHILD,)),
        )


async def test_what_is_not_sent_yet_is_sent_before_a_log_ends(stores: Stores) -> None:
    async with stores.open() as opened:
        store = opened.keeper()
        last = turn(1, outbox=[SendError(code="limit", message="no")])
        await store.commit(last)
        assert await erase(store, THREAD, opened.clock) == Kept(THREAD, "unsettled")
        await settle(store, last)
        removed(await erase(store, THREAD, opened.clock))


async def test_what_nobody_can_send_any_more_keeps_no_log(stores: Stores) -> None:
    async with stores.open() as opened:
        store = opened.keeper()
        await store.commit(turn(1, outbox=[SendError(code="limit", message="no")]))
        await later(opened, days=15)
        removed(await erase(store, THREAD, opened.clock))


async def test_an_input_of_a_commit_that_nobody_settled_enters_no_later_log(stores: Stores) -> None:
    async with stores.open() as opened:
        store = opened.keeper()
        await store.commit(turn(1))
        removed(await erase(store, THREAD, opened.clock))
        assert not await say(store, "again", message_id="m1")


async def test_a_tree_goes_from_below(stores: Stores) -> None:
    async with stores.open() as opened:
        store = opened.keeper()
        root = turn(1)
        await settle(store, root)
        own = await located(store, THREAD, 2)
        await settle(store, turn(2, outbox=[spawn(CHILD, own)]))
        child = turn(1, thread_id=CHILD, origin=inheriting(own), outbox=[spawn(GRANDCHILD, own)])
        await settle(store, child)
        grandchild = inheriting(own).model_copy(update={"ancestors": (THREAD, CHILD)})
        await settle(store, turn(1, thread_id=GRANDCHILD, origin=grandchild))
        assert await erase(store, THREAD, opened.clock) == Kept(THREAD, "readers", (CHILD, GRANDCHILD))
        outcomes = await erase_tree(store, THREAD, opened.clock)
        assert [outcome.thread_id for outcome in outcomes] == [GRANDCHILD, CHILD, THREAD]
        assert [removed(outcome) for outcome in outcomes] == [1, 1, 2]
        for thread_id in (GRANDCHILD, CHILD, THREAD):
            assert await history(store, thread_id) == []
        assert await erase(store, "nobody", opened.clock) == Nothing("nobody")


async def test_a_new_log_is_inherited_compacted_and_forked_as_any(stores: Stores) -> None:
    async with stores.open() as opened:
        store = opened.keeper()
        commits = await grow(store, THREAD, 4)
        await compact(store, commits, 4)
        removed(await erase(store, THREAD, opened.clock))
        for text in ("one", "two", "three"):
            await say(store, text)
        assert await store.locate(THREAD, 8) is None
        assert await store.locate(THREAD, 4) is None
        await fork(store, THREAD, 10, "fork", clock=opened.clock)
        assert await history_of_fork(store) == ["one", "two"]
        manager = await HistoryManager.new_with_history(store, THREAD)
        assert texts(manager.history) == ["one", "two", "three"]
        assert manager.safe_spawn_point() == 11
        assert texts(await store.entries(THREAD, after_seq=9, limit=1)) == ["two"]


async def test_the_end_of_a_log_stays_as_long_as_another_stands_on_it(stores: Stores) -> None:
    async with stores.open() as opened:
        store = opened.keeper()
        await conversation(opened)
        removed(await erase(store, THREAD, opened.clock))
        assert await later(opened, days=60, seconds=2) == {THREAD}
        ending = (await store.load(THREAD)).last
        assert ending is not None
        await say(store, "new")
        assert not await store.bury(ending)
        assert await history(store) == ["new"]
        assert (
            InputKey("user_message", "new")
            in (await store.load(THREAD, [InputKey("user_message", "new")])).markers
        )


async def test_who_begins_on_an_end_that_has_just_gone_begins_anew(stores: Stores) -> None:
    async with stores.open() as opened:
        store = opened.keeper()
        await conversation(opened)
        removed(await erase(store, THREAD, opened.clock))
        opened.clock.advance(timedelta(days=61).total_seconds())
        await opened.expire()
        slow = await HistoryManager.new_with_history(store, THREAD)
        removed(await erase(store, THREAD, opened.clock))
        slow.handle_content(user("slow"), "slow")
        with pytest.raises(LostRace):
            await slow.sync()
        await say(store, "slow")
        assert await history(store) == ["slow"]
        assert (await store.load(THREAD)).folded.state.number == 1


def _forked(ancestor: Ancestor) -> Origin:
    """Of a fork."""
    point = ForkPoint(thread_id=ancestor.thread_id, seq=ancestor.cutoff_seq)
    return Origin(lineage=(ancestor,), forked_from=point)


async def history_of_fork(store: KeepsThreads) -> list[str]:
    manager = await HistoryManager.new_with_history(store, "fork")
    return texts(manager.history)
