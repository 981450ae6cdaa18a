"""When a commit becomes a checkpoint: where commits without entries pile up, and only where it pays."""

from core.chunks import CallChunk
from core.commit import Commit
from core.history import HistoryManager, Summary
from core.history.checkpoints import BYTES_PER_COMMIT, COMMITS
from infra.memory import MemoryClock, MemoryStore
from tests.support.threads import empty, take_turn, text
from tests.support.world import START

CLOCK = MemoryClock(START)


async def begun(words: str = "go") -> HistoryManager:
    manager = await empty(MemoryStore(CLOCK), CLOCK)
    manager.handle_content(text(words), "m0")
    await manager.sync()
    return manager


async def quiet(manager: HistoryManager, commits: int) -> list[Commit]:
    """So many commits without entries."""
    made = []
    for _ in range(commits):
        manager.draft.set_state(credit=(manager.state.credit or 0) + 1)
        commit = await manager.sync()
        assert commit is not None
        made.append(commit)
    return made


def checkpoints(commits: list[Commit]) -> list[int]:
    return [commit.number for commit in commits if commit.checkpoint]


async def test_every_so_many_commits_readers_start_anew() -> None:
    manager = await begun()
    log = await quiet(manager, 3 * COMMITS)
    assert checkpoints(log) == [1 + COMMITS, 1 + 2 * COMMITS, 1 + 3 * COMMITS]
    assert [commit.from_number for commit in log[-2:]] == [1 + 2 * COMMITS, 1 + 3 * COMMITS]
    assert log[-1].held == manager.history


async def test_what_is_large_is_carried_once_that_much_is_spared() -> None:
    manager = await begun("x" * 2 * COMMITS * BYTES_PER_COMMIT)
    assert checkpoints(await quiet(manager, 3 * COMMITS)) == [1 + 3 * COMMITS]


async def test_what_else_a_thread_knows_is_large_too() -> None:
    manager = await begun()
    manager.draft.set_state(owes_to="x" * 2 * COMMITS * BYTES_PER_COMMIT, owes=True)
    assert checkpoints(await quiet(manager, 3 * COMMITS)) == [1 + 3 * COMMITS]


async def test_a_conversation_whose_commits_are_its_entries_has_none() -> None:
    manager = await begun()
    for number in range(2 * COMMITS):
        take_turn(manager, "A short answer.")
        manager.handle_content(text("And another question."), f"m{number + 1}")
        await manager.sync()
    assert manager.state.from_number == 1


async def test_a_summary_stays_and_is_counted_from() -> None:
    manager = await begun()
    await quiet(manager, 10)
    take_turn(manager, "Let me see.", CallChunk("look", {}))
    manager.apply_compaction(Summary(text="so far", up_to_seq=2))
    base = await manager.sync()
    assert base is not None
    log = await quiet(manager, COMMITS)
    (checkpoint,) = [commit for commit in log if commit.checkpoint]
    assert checkpoint.number == base.from_number + COMMITS
    assert [entry.seq for entry in checkpoint.held] == [3]
    assert manager.state.summary == Summary(text="so far", up_to_seq=2)
    assert manager.state.base_number == base.number


async def test_a_compaction_in_the_same_commit_goes_before() -> None:
    manager = await begun()
    await quiet(manager, COMMITS - 1)
    take_turn(manager, "Done.")
    manager.draft.checkpoint()
    manager.apply_compaction(Summary(text="so far", up_to_seq=2))
    commit = await manager.sync()
    assert commit is not None
    assert commit.base is not None
    assert commit.checkpoint is None
