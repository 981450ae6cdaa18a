"""`apply_compaction` and what it changes: what is visible, where a reader begins, and nothing else."""

import pytest

from core.chunks import CallChunk
from core.commit import Commit
from core.errors import MisuseError
from core.history import HistoryManager, Summary
from infra.memory import MemoryClock, MemoryStore
from tests.support.inputs import THREAD
from tests.support.lines import lines
from tests.support.threads import answer, empty, reload, take_turn, text
from tests.support.world import START

CLOCK = MemoryClock(START)


async def _three_turns() -> tuple[HistoryManager, MemoryStore]:
    """User and answer in each of three commits: entries 1-2, 3-4, 5-6."""
    store = MemoryStore(CLOCK)
    manager = await empty(store, CLOCK)
    for number in (1, 2, 3):
        manager.handle_content(text(f"q{number}"), f"m{number}")
        take_turn(manager, f"a{number}")
        await manager.sync()
    return manager, store


async def _compacted(manager: HistoryManager, up_to_seq: int) -> Commit:
    manager.apply_compaction(Summary(text="so far", up_to_seq=up_to_seq))
    commit = await manager.sync()
    assert commit is not None
    return commit


@pytest.mark.parametrize(("up_to_seq", "from_number"), [(1, 1), (2, 2), (3, 2), (4, 3), (6, 4)])
async def test_readers_begin_at_the_commit_of_the_first_entry_not_covered(
    up_to_seq: int, from_number: int
) -> None:
    manager, store = await _three_turns()
    commit = await _compacted(manager, up_to_seq)
    assert (commit.number, commit.from_number) == (4, from_number)
    again = await reload(manager, store, CLOCK)
    assert [entry.seq for entry in again.history] == list(range(up_to_seq + 1, 7))
    assert again.state.summary == Summary(text="so far", up_to_seq=up_to_seq)
    assert again.history == manager.history


async def test_the_log_itself_stays_whole() -> None:
    manager, store = await _three_turns()
    before = await store.entries(THREAD)
    await _compacted(manager, 4)
    assert await store.entries(THREAD) == before


async def test_a_later_commit_leads_readers_to_the_same_place() -> None:
    manager, store = await _three_turns()
    await _compacted(manager, 4)
    manager.handle_content(text("q4"), "m4")
    commit = await manager.sync()
    assert commit is not None
    assert commit.from_number == 3
    again = await reload(manager, store, CLOCK)
    assert lines(again.history) == ["User(q3)", "Asst(a3)", "User(q4)"]
    assert again.state.last_seq == 7


async def test_a_second_summary_replaces_the_first() -> None:
    manager, store = await _three_turns()
    await _compacted(manager, 2)
    with pytest.raises(MisuseError):
        manager.apply_compaction(Summary(text="behind", up_to_seq=1))
    commit = await _compacted(manager, 4)
    again = await reload(manager, store, CLOCK)
    assert commit.from_number == 3
    assert again.state.summary is not None
    assert again.state.summary.up_to_seq == 4


async def test_pending_entries_can_be_covered_by_the_commit_that_holds_them() -> None:
    manager, store = await _three_turns()
    manager.handle_content(text("q4"), "m4")
    take_turn(manager, "a4")
    commit = await _compacted(manager, 8)
    assert commit.from_number == commit.number == 4
    again = await reload(manager, store, CLOCK)
    assert list(again.history) == []
    assert again.safe_spawn_point() == 8
    assert again.handle_content(text("q5"), "m5")
    assert [entry.seq for entry in again.history] == [9]


async def test_only_a_safe_cut_can_be_covered() -> None:
    store = MemoryStore(CLOCK)
    manager = await empty(store, CLOCK)
    manager.handle_content(text("go"), "m1")
    one, two = take_turn(manager, "Looking.", CallChunk("a", {}), CallChunk("b", {}))
    manager.handle_content(answer(one), "r1")
    assert manager.safe_spawn_point() == 2
    for unsafe in (0, 3, 4, 5, 6):
        with pytest.raises(MisuseError):
            manager.apply_compaction(Summary(text="s", up_to_seq=unsafe))
    manager.handle_content(answer(two), "r2")
    assert manager.safe_spawn_point() == 6


async def test_live_calls_subscriptions_and_what_waits_outlive_it() -> None:
    store = MemoryStore(CLOCK)
    manager = await empty(store, CLOCK)
    manager.handle_content(text("watch"), "m1")
    (watch,) = take_turn(manager, CallChunk("watch", {"topic": "t"}))
    manager.handle_content(answer(watch), "r1")
    manager.track_subscription(watch)
    (work,) = take_turn(manager, CallChunk("work", {}))
    manager.defer_content(text("waits"), "m2")
    await _compacted(manager, 3)
    again = await reload(manager, store, CLOCK)
    assert lines(again.history) == ["Call(work, {})"]
    assert again.live_calls == (work,)
    assert again.active_subscriptions == (watch,)
    again.handle_content(answer(work), "r2")
    assert lines(again.history)[-1] == "User(waits)"


async def test_with_a_turn_in_the_buffer_it_is_a_bug() -> None:
    manager, _ = await _three_turns()
    manager.handle_completion(CallChunk("a", {}))
    with pytest.raises(MisuseError):
        manager.apply_compaction(Summary(text="s", up_to_seq=2))
