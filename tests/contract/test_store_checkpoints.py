"""Checkpoints, over both stores: a log reads the same from one on, for itself and for those that inherit."""

from collections.abc import Callable

import pytest

from core.changes import CallOpened, ChildOpened, EntriesHidden, SubscriptionOpened
from core.chunks import CallChunk
from core.commit import Commit
from core.fold import fold_commits
from core.history import HistoryManager, checkpoints
from core.ports import ThreadStore
from core.render import with_placeholder
from core.thread import Child, Deferred, FoldedThread, Hidden, Subscription
from tests.contract.commits import THREAD, settle
from tests.contract.stores import DynamoStores, Stores
from tests.support.forest import ROOT, Forest
from tests.support.forest_checks import check_thread
from tests.support.threads import take_turn, text

Act = Callable[[HistoryManager], object]
HIDDEN = Hidden(seq=1, what="all")


async def write(store: ThreadStore, act: Act) -> Commit:
    manager = await HistoryManager.new_with_history(store, THREAD)
    act(manager)
    commit = await manager.sync()
    assert commit is not None
    await settle(store, commit)
    return commit


def quiet(manager: HistoryManager) -> None:
    """A commit without entries."""
    manager.draft.set_state(credit=(manager.state.credit or 0) + 1)


def checkpointed(manager: HistoryManager) -> None:
    quiet(manager)
    manager.draft.checkpoint()


def hiding(manager: HistoryManager) -> None:
    manager.draft.record(EntriesHidden(entries=(HIDDEN,)))


def busy(manager: HistoryManager) -> None:
    """Everything that may be open in a thread."""
    manager.handle_content(text("go"), "m1")
    (call_id,) = take_turn(manager, "Sleeping.", CallChunk("sleep", {"seconds": 5}))
    draft = manager.draft
    draft.record(CallOpened(call_id=call_id, passive=True))
    draft.record(SubscriptionOpened(subscription=Subscription(call_id="call_0", name="watch")))
    draft.record(ChildOpened(child=Child(thread_id=f"{THREAD}~1", call_id="call_0", kind="event", credit=7)))
    draft.defer(Deferred(entry=text("later"), message_id="m2"))


async def test_a_log_loads_from_its_checkpoint_on_with_all_that_is_open(stores: Stores) -> None:
    async with stores.open() as opened:
        acts = [busy, *[quiet] * 20, checkpointed, *[quiet] * 2]
        log = [await write(opened.store, act) for act in acts]
        assert [commit.from_number for commit in log] == [1] * 21 + [22] * 3
        whole = fold_commits(FoldedThread(), log)
        for store in (opened.store, opened.another()):
            assert (await store.load(THREAD)).folded == whole
        assert [entry.seq for entry in whole.entries] == [1, 2, 3]
        assert await opened.another().state_at(THREAD, 24) == whole.state
        assert [entry.seq for entry in await opened.another().entries(THREAD)] == [1, 2, 3]


async def grown(forest: Forest) -> None:
    """Children and forks before, at and after a checkpoint, and again after a summary of a part of what it carries."""
    for actions in [[("text", 0)], [("turn", 0)], [("text", 0)], [("turn", 0)]]:
        await forest.visit(ROOT, actions)
    for actions in [
        [("hide", 1)],
        [("hide", 3)],
        [("hide", 1), ("checkpoint", 0)],
        [("hide", 0)],
        [("text", 0)],
    ]:
        await forest.visit(ROOT, actions, spawning=True)
    for at_seq in (3, 5):
        await forest.fork(ROOT, at_seq)
    await forest.visit(ROOT, [("compact", 0)], spawning=True)
    for actions in [[("hide", 0)], [("hide", 1), ("checkpoint", 0)], [("turn", 0)]]:
        await forest.visit(ROOT, actions, spawning=True)
    await forest.visit(ROOT, [("compact", 1)], spawning=True)
    for at_seq in range(1, len(forest.own(ROOT)) + 1):
        await forest.fork(ROOT, at_seq)


async def test_children_and_forks_see_the_same_across_a_checkpoint(stores: Stores) -> None:
    async with stores.open() as opened:
        forest = Forest(opened.store)
        await grown(forest)
        bases = [summary.up_to_seq for _, summary in forest.summaries]
        assert bases == [1, 3]
        for thread_id in forest.views:
            check_thread(
                forest, thread_id, await HistoryManager.new_with_history(opened.another(), thread_id)
            )


async def test_what_a_child_or_a_fork_reads_does_not_reach_behind_a_checkpoint(stores: Stores) -> None:
    async with stores.open() as opened:
        for act in (busy, hiding, *[quiet] * 4, checkpointed, quiet):
            await write(opened.store, act)
        await write(opened.store, lambda manager: manager.handle_content(text("and"), "m3"))
        located = await opened.another().locate(THREAD, 5)
        assert located is not None
        assert (located.first_commit, located.last_commit) == (7, 9)
        inherited = (await opened.another().inherit([located])).entries
        assert [entry.seq for entry in inherited] == [1, 2, 3, 4, 5]
        said = (await opened.store.entries(THREAD))[0]
        assert inherited[0] == with_placeholder(said, HIDDEN) != said, "though what hid it is not read"


async def test_a_cold_load_of_a_log_that_grows_without_entries_stays_small(
    dynamo: DynamoStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "COMMITS", 20)
    async with dynamo.open() as opened:
        manager = await HistoryManager.new_with_history(opened.store, THREAD)
        manager.handle_content(text("go"), "m1")
        for number in range(1, 42):
            quiet(manager)
            await manager.sync()
            opened.dynamodb.operations()
            await opened.another().load(THREAD)
            assert opened.dynamodb.read_units() <= 4
            past_16_commits = (number - 1) % 20 >= 16
            asked = ["query", "query", "batch_get_item"] if past_16_commits else ["query", "batch_get_item"]
            assert sorted(opened.dynamodb.operations()) == sorted(asked)
