"""For any life of a thread: what is committed folds to what the draft promised, however it is loaded."""

from hypothesis import given, settings

from core.commit import commit_from_text, commit_text
from core.entries import AppEntry, ToolCall, ToolResult
from core.fold import fold_commits
from core.history.app_log import app_entries
from core.render import render
from core.request import ModelRequest
from core.slice.requests import tool_specs
from core.strict import check_request
from core.thread import ThreadState
from tests.support.inputs import THREAD
from tests.support.world import agent
from tests.unit.history.operations import Life, Operation, folded, operations

bounded = settings(max_examples=50)
AGENT = agent()


def _comparable(state: ThreadState) -> ThreadState:
    """Without what only a commit can give: its number, digest and the ids of what it armed; usages in any order, since
    a commit of a slice holds one turn, and one here may hold several.
    """
    unnamed = {
        part: value.model_copy(update={"id": ""})
        for part, value in (("wake", state.wake), ("timer", state.timer))
        if value is not None
    }
    given_by_commit = {"number": 0, "digest": "", "birth": "", "from_number": 0}
    usage = tuple(sorted(state.past_usage, key=str))
    return state.model_copy(update={**given_by_commit, **unnamed, "past_usage": usage})


@bounded
@given(operations)
async def test_folding_the_built_commits_gives_what_the_draft_promised(script: list[Operation]) -> None:
    life = Life()
    await life.live(script)
    for number, promised in enumerate(life.promised, start=1):
        state = folded(life.commits[:number]).state
        assert _comparable(state) == _comparable(promised)
        assert all(armed is None or armed.id for armed in (state.wake, state.timer))


@bounded
@given(operations)
async def test_cold_warm_and_incremental_folds_agree(script: list[Operation]) -> None:
    life = Life()
    manager = await life.live(script)
    incremental = folded(life.commits)
    assert manager.draft.committed == incremental
    cold = (await life.store.load(THREAD)).folded
    assert cold == incremental
    for split in range(len(life.commits)):
        warm = folded(life.commits[:split])
        assert fold_commits(warm, life.commits[split:]) == incremental


@bounded
@given(operations)
async def test_after_a_reload_the_same_is_visible_and_live(script: list[Operation]) -> None:
    life = Life()
    manager = await life.live(script)
    again = await type(manager).new_with_history(life.store, THREAD, clock=life.clock)
    assert again.history == manager.history
    assert again.live_calls == manager.live_calls
    assert again.active_subscriptions == manager.active_subscriptions
    assert again.metadata == manager.metadata
    assert again.safe_spawn_point() == manager.safe_spawn_point()
    said = {entry.role: entry for entry in await life.store.entries(THREAD) if isinstance(entry, AppEntry)}
    shown = {entry.role: entry for entry in app_entries(again.draft, again.inherited)}
    assert [shown[role].content for role in said] == [entry.content for entry in said.values()]


@bounded
@given(operations)
async def test_a_log_is_append_only_numbered_without_gaps_and_its_calls_are_unique(
    script: list[Operation],
) -> None:
    life = Life()
    manager = await life.live(script)
    entries = await life.store.entries(THREAD)
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    written = [entry for commit in life.commits for entry in commit.entries]
    assert list(entries) == written
    called = [entry.call_id for entry in entries if isinstance(entry, ToolCall)]
    assert len(called) == len(set(called))
    answered = [entry.call_id for entry in entries if isinstance(entry, ToolResult)]
    assert sorted([*answered, *manager.live_calls]) == sorted(called)
    assert all(entry.at is not None for entry in entries)


@bounded
@given(operations)
async def test_a_commit_reads_back_as_it_was_written(script: list[Operation]) -> None:
    life = Life()
    await life.live(script)
    for commit in life.commits:
        again = commit_from_text(commit_text(commit))
        assert again == commit
        assert again.digest == commit.digest


@bounded
@given(operations)
async def test_whatever_is_runnable_renders_well_formed(script: list[Operation]) -> None:
    life = Life()
    manager = await life.live(script)
    if manager.state.runnable:
        messages = render(manager.history, summary=manager.state.summary, model="test:model")
        check_request(ModelRequest(AGENT.model, messages, tools=tool_specs(AGENT, messages)))
