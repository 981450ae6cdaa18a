"""Threads kept warm by a container: never a different answer than cold, never more than was allowed."""

import pytest

from core.commit import Checkpoint
from core.errors import StoreUnavailable
from core.fold import fold_commits
from core.thread import FoldedThread
from infra.dynamodb import WarmThreads
from infra.dynamodb.codec import StoredCommit
from infra.dynamodb.warm import KnownThread
from tests.contract.commits import THREAD, made, settle, turn, with_base
from tests.contract.samples import noise
from tests.contract.stores import DynamoStores
from tests.contract.watched import fails, refused


def known(thread_id: str, size_bytes: int = 100) -> KnownThread:
    commit = turn(1, thread_id=thread_id)
    return KnownThread(fold_commits(FoldedThread(), [commit]), commit, size_bytes)


async def test_warm_and_cold_see_the_same(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        before = [turn(number) for number in range(1, 5)]
        base = with_base(5, before, up_to_seq=5, from_number=3)
        after = turn(6, first_seq=9, from_number=3)
        other = opened.another()
        for commit, writer in zip((*before, base, after), [opened.store, other] * 3, strict=True):
            await settle(writer, commit)
            warm, cold = await opened.store.load(THREAD), await opened.another().load(THREAD)
            assert warm.folded.state == cold.folded.state
            assert warm.folded.entries == cold.folded.entries
            assert (warm.last, warm.tip) == (cold.last, cold.tip)


async def test_a_log_that_is_not_the_one_known_loads_cold(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        await opened.store.commit(turn(1, "old"))
        await opened.dynamodb.delete_item(
            TableName=opened.table, Key={"pk": {"S": f"T#{THREAD}"}, "sk": {"S": "C#000000000001"}}
        )
        assert (await opened.store.load(THREAD)).last is None
        await opened.another().commit(turn(1, "new"))
        assert (await opened.store.load(THREAD)).last == turn(1, "new")


async def test_a_thread_that_went_far_ahead_elsewhere_loads_cold(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        await opened.store.commit(turn(1))
        await opened.seed([turn(number, noise(60_000, f"{number}")) for number in range(2, 40)])
        assert (await opened.store.load(THREAD)).folded == (await opened.another().load(THREAD)).folded


async def test_a_load_that_fails_keeps_nothing_wrong(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        await opened.store.commit(turn(1))
        await opened.another().commit(turn(2))
        opened.dynamodb.next_time("batch_get_item", fails(refused("AccessDeniedException")))
        with pytest.raises(StoreUnavailable):
            await opened.store.load(THREAD)
        assert (await opened.store.load(THREAD)).last == turn(2)


def test_the_threads_seen_longest_ago_are_forgotten_first() -> None:
    warm = WarmThreads(max_threads=2)
    for thread_id in ("a", "b"):
        warm.keep(thread_id, known(thread_id))
    warm.get("a")
    warm.keep("c", known("c"))
    assert [thread_id for thread_id in ("a", "b", "c") if warm.get(thread_id)] == ["a", "c"]


def test_bytes_are_bounded_too() -> None:
    warm = WarmThreads(max_bytes=250)
    for thread_id in ("a", "b", "c"):
        warm.keep(thread_id, known(thread_id, size_bytes=100))
    assert [thread_id for thread_id in ("a", "b", "c") if warm.get(thread_id)] == ["b", "c"]
    warm.keep("huge", known("huge", size_bytes=251))
    assert [thread_id for thread_id in ("b", "c", "huge") if warm.get(thread_id)] == ["b", "c"]
    warm.keep("b", known("b", size_bytes=300))
    assert [thread_id for thread_id in ("b", "c") if warm.get(thread_id)] == ["c"]


def test_only_the_next_commit_extends_a_known_thread() -> None:
    warm = WarmThreads()
    for number in (1, 3, 2, 2, 1):
        warm.extend(StoredCommit(turn(number), 100))
    found = warm.get(THREAD)
    assert found is not None
    assert found.last == turn(2)
    warm.extend(StoredCommit(turn(5, thread_id="other"), 100))
    assert warm.get("other") is None


def test_a_checkpoint_is_all_that_is_kept_of_what_came_before() -> None:
    warm = WarmThreads()
    for commit in (turn(1), *(made(number, first_seq=3) for number in range(2, 6))):
        warm.extend(StoredCommit(commit, 100))
    before = warm.get(THREAD)
    assert before is not None
    assert before.size_bytes == 500
    checkpoint = Checkpoint(snapshot=before.folded.state, carried=before.folded.entries)
    commit = made(6, first_seq=3, from_number=6).model_copy(update={"checkpoint": checkpoint})
    warm.extend(StoredCommit(commit, 150))
    after = warm.get(THREAD)
    assert after is not None
    assert (after.size_bytes, after.folded.entries) == (150, before.folded.entries)
