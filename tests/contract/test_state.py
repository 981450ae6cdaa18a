"""State over both stores: found as it was at any commit, kept whole however large, and its history for people."""

from typing import Any

import pytest

from core.changes import StateEdited
from core.commit import Commit
from core.errors import UnreadableRecord
from core.fold import fold_commits
from core.fork import fork
from core.history import PermanentHistory
from core.history.permanent import PAGE_ENTRIES
from core.state.edits import AppendAt, SetAt
from core.thread import FoldedThread
from infra.dynamodb.large import LARGE_BYTES
from tests.contract.commits import THREAD, made, settle, turn, user, with_base
from tests.contract.samples import noise
from tests.contract.stores import DynamoStores, OpenedDynamo, Stores


def edited(**values: Any) -> StateEdited:
    return StateEdited(edits=tuple(SetAt(path=(key,), value=value) for key, value in values.items()))


def _log() -> list[Commit]:
    """Turns that change a state, a base among them."""
    log = [turn(1, changes=[edited(n=1, all=[1])])]
    log.append(turn(2, changes=[StateEdited(edits=(AppendAt(path=("all",), items=(2,)),))]))
    log.append(turn(3))
    log.append(with_base(4, log, up_to_seq=4, from_number=3))
    log.append(turn(5, first_seq=7, changes=[edited(n=5)], from_number=3))
    return log


async def test_a_thread_is_found_as_it_was_after_any_commit(stores: Stores) -> None:
    async with stores.open() as opened:
        for commit in (log := _log()):
            await settle(opened.store, commit)
        for number in range(1, len(log) + 1):
            expected = fold_commits(FoldedThread(), log[:number]).state
            assert await opened.another().state_at(THREAD, number) == expected
        newest = (await opened.another().load(THREAD)).folded.state
        assert newest.stored_state == {"n": 5, "all": [1, 2]}
        for unknown in ((THREAD, 6), (THREAD, 0), ("none", 1)):
            with pytest.raises(UnreadableRecord):
                await opened.another().state_at(*unknown)


@pytest.mark.parametrize(
    ("at_seq", "n", "everything"), [(1, None, None), (2, 1, [1]), (6, 1, [1, 2]), (8, 5, [1, 2])]
)
async def test_a_fork_begins_with_the_state_after_the_last_commit_that_it_shares_whole(
    stores: Stores, at_seq: int, n: int | None, everything: list[int] | None
) -> None:
    async with stores.open() as opened:
        for commit in _log():
            await settle(opened.store, commit)
        await fork(opened.store, THREAD, at_seq, "fork")
        state = (await opened.another().load("fork")).folded.state
        assert state.stored_state == (None if n is None else {"n": n, "all": everything})


async def test_a_state_of_any_size_is_read_as_it_was_written(stores: Stores) -> None:
    values = {name: noise(size, name) for name, size in (("small", 10), ("large", 200_000))}
    async with stores.open() as opened:
        await settle(opened.store, made(1, [user("go")], changes=[edited(**values)]))
        await settle(
            opened.store, made(2, [user("on")], first_seq=2, changes=[edited(small="", more=[None])])
        )
        state = (await opened.another().load(THREAD)).folded.state
        assert state.stored_state == {**values, "small": "", "more": [None]}


async def test_a_large_change_of_a_state_lies_apart_and_must_be_there(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        size = LARGE_BYTES + 1
        await settle(opened.store, made(1, [user("go")], changes=[edited(large=noise(size), small=1)]))
        assert opened.dynamodb.bytes_put() < 1024
        await _empty_bucket(opened)
        with pytest.raises(UnreadableRecord, match="edits"):
            await opened.another().load(THREAD)


async def _empty_bucket(opened: OpenedDynamo) -> None:
    puts = [call.request for call in opened.s3.calls if call.operation == "put_object"]
    for put in puts:
        await opened.s3.delete_object(Bucket=put["Bucket"], Key=put["Key"])


async def test_a_permanent_history_is_read_page_by_page(stores: Stores) -> None:
    length = PAGE_ENTRIES * 2 + 50
    async with stores.open() as opened:
        entries = [entry for number in range(length // 2) for entry in turn(number + 1).entries]
        log = [
            made(1 + start // 50, entries[start : start + 50], first_seq=start + 1)
            for start in range(0, length, 50)
        ]
        for commit in log:
            await opened.store.commit(commit)
        history = await PermanentHistory.from_thread(opened.another(), THREAD)
        turns = history.get_all_turns()
        assert [turn["content"] for turn in turns[::2]] == [f"question {n + 1}" for n in range(length // 2)]
        assert [turn["content"] for turn in turns[1::2]] == [f"answer {n + 1}" for n in range(length // 2)]
