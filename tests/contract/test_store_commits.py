"""Committing and loading, over both stores."""

import asyncio

import pytest

from core.errors import LostRace, UnreadableRecord
from core.fold import fold_commits
from core.ports import LoadedThread
from core.thread import FoldedThread
from tests.contract.commits import THREAD, key, made, settle, texts, turn, user
from tests.contract.stores import Stores


async def test_a_thread_nobody_wrote_to_loads_empty(stores: Stores) -> None:
    async with stores.open() as opened:
        assert await opened.store.load("nobody", [key(1)]) == LoadedThread()
        assert await opened.store.entries("nobody") == ()
        assert await opened.store.entries("nobody", after_seq=7) == ()


async def test_a_commit_loads_as_it_was_written(stores: Stores) -> None:
    async with stores.open() as opened:
        commit = turn(1)
        await opened.store.commit(commit)
        for store in (opened.store, opened.another()):
            loaded = await store.load(THREAD)
            assert loaded == LoadedThread(fold_commits(FoldedThread(), [commit]), last=commit)
            assert loaded.last is not None
            assert loaded.last.digest == commit.digest
            assert loaded.folded.state.digest == commit.digest


async def test_the_same_commit_again_succeeds(stores: Stores) -> None:
    async with stores.open() as opened:
        await opened.store.commit(turn(1))
        await opened.store.commit(turn(1))
        await opened.another().commit(turn(1))
        assert texts((await opened.store.load(THREAD)).folded.entries) == ["question 1", "answer 1"]


async def test_the_commit_that_loses_the_race_for_its_number_changes_nothing(stores: Stores) -> None:
    async with stores.open() as opened:
        rivals = [turn(1, "first"), turn(1, "second")]
        other = opened.another()
        outcomes = await asyncio.gather(
            opened.store.commit(rivals[0]), other.commit(rivals[1]), return_exceptions=True
        )
        assert {type(outcome) for outcome in outcomes} == {LostRace, type(None)}
        winner = rivals[outcomes.index(None)]
        for store in (opened.store, other):
            assert (await store.load(THREAD)).last == winner


async def test_the_same_content_in_two_threads_is_two_commits(stores: Stores) -> None:
    async with stores.open() as opened:
        mine, theirs = turn(1), turn(1, thread_id="thread-2")
        assert mine.digest != theirs.digest
        await opened.store.commit(mine)
        await opened.store.commit(theirs)
        assert (await opened.store.load("thread-2")).last == theirs


@pytest.mark.parametrize("length", [16, 17, 40])
async def test_a_long_thread_loads_whole(stores: Stores, length: int) -> None:
    async with stores.open() as opened:
        commits = [turn(number) for number in range(1, length + 1)]
        for commit in commits:
            await opened.store.commit(commit)
        expected = fold_commits(FoldedThread(), commits)
        assert (await opened.another().load(THREAD)).folded == expected
        assert (await opened.store.load(THREAD)).folded == expected


async def test_what_another_container_committed_is_seen(stores: Stores) -> None:
    async with stores.open() as opened:
        other = opened.another()
        commits = [turn(number) for number in range(1, 5)]
        for commit, writer in zip(commits, (opened.store, other, other, opened.store), strict=True):
            await writer.load(THREAD)
            await writer.commit(commit)
        expected = fold_commits(FoldedThread(), commits)
        assert (await opened.store.load(THREAD)).folded == expected
        assert (await other.load(THREAD)).folded == expected


async def test_a_log_with_a_gap_is_unreadable(stores: Stores) -> None:
    async with stores.open() as opened:
        await opened.store.commit(turn(1))
        await opened.store.commit(turn(3))
        with pytest.raises(UnreadableRecord):
            await opened.another().load(THREAD)


async def test_a_log_without_its_beginning_is_unreadable(stores: Stores) -> None:
    async with stores.open() as opened:
        await opened.store.commit(turn(2))
        with pytest.raises(UnreadableRecord):
            await opened.another().load(THREAD)


async def test_a_tip_beyond_the_log_is_unreadable(stores: Stores) -> None:
    async with stores.open() as opened:
        await settle(opened.store, turn(1))
        await opened.store.settled(turn(2), waiting=False)
        with pytest.raises(UnreadableRecord):
            await opened.another().load(THREAD)


async def test_a_marker_beyond_the_log_is_unreadable(stores: Stores) -> None:
    async with stores.open() as opened:
        await settle(opened.store, turn(1))
        await opened.store.mark(turn(2))
        with pytest.raises(UnreadableRecord):
            await opened.another().load(THREAD, [key(2)])


async def test_a_commit_without_entries_keeps_its_place(stores: Stores) -> None:
    async with stores.open() as opened:
        commits = [turn(1), made(2, first_seq=3), made(3, [user("more")], first_seq=3)]
        for commit in commits:
            await opened.store.commit(commit)
        loaded = await opened.another().load(THREAD)
        assert loaded.folded.state.last_seq == 3
        assert texts(loaded.folded.entries) == ["question 1", "answer 1", "more"]
