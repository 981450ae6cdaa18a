"""The fold: a thread's state is a pure function of its commits. Applies what they record and takes no decisions."""

from collections.abc import Iterable
from typing import assert_never

from core.changes import (
    CallOpened,
    Change,
    ChildEnded,
    ChildOpened,
    Closed,
    Compacting,
    CreditLeft,
    DeferredJoined,
    EntriesHidden,
    InputDeferred,
    MetadataSet,
    OfCalls,
    OfInput,
    OfState,
    OfTime,
    OfTurns,
    Owes,
    RouteChosen,
    SourcesSet,
    StateEdited,
    StateSetAside,
    StateTakenBack,
    SubscriptionEnded,
    SubscriptionOpened,
    TimerArmed,
    TimerCleared,
    TurnsUsed,
    UsageSeen,
    WakeArmed,
    WakeCleared,
)
from core.chunks import Usage
from core.commit import Commit
from core.entries import Entry, ToolCall, ToolResult
from core.errors import UnreadableRecord
from core.ids import outbox_id
from core.outbox import OutboxMessage, SendAnswer
from core.route import Route
from core.state.edits import apply_edits
from core.thread import FoldedThread, LiveCall, PendingTimer, PendingWake, ThreadState

CALL_FIELDS = ("worker", "deadline_at", "passive", "until", "question", "note", "args")
"""What `CallOpened` says of a live call."""
NAMED_BY_THE_COMMIT = (WakeArmed, TimerArmed)
"""Changes that hold an id derived from the commit's own digest, which its own snapshot therefore cannot hold."""
PAST_TURNS = 20
"""Turns whose usage the fold keeps."""


def fold_commits(folded: FoldedThread, commits: Iterable[Commit]) -> FoldedThread:
    """`folded` after `commits`, which must be consecutive. Raises UnreadableRecord at a gap.

    A fold that begins at a later commit than the first needs the latest snapshot among `commits`, a base's or a
    checkpoint's: it replaces what was folded. Entries that a summary covers are left out, also where the cutoff falls
    inside a commit; what a checkpoint carries counts where the reading begins with it.
    """
    state, entries, starts = folded.state, list(folded.entries), list(folded.starts)
    pending = list(commits)
    based = next((index for index in reversed(range(len(pending))) if pending[index].snapshot), -1)
    expected = state.number + 1 if state.number or based < 0 else None
    for index, commit in enumerate(pending):
        if expected is not None and commit.number != expected:
            raise UnreadableRecord(
                f"{commit.thread_id!r}: commit {expected} is missing before {commit.number}"
            )
        expected = commit.number + 1
        if index >= based:
            state = fold_commit(state, commit)
        entries.extend(commit.entries if entries else commit.held)
        starts.extend(_starts(commit))
    covered = state.covered_seq
    kept = entries if not entries or entries[0].seq > covered else [e for e in entries if e.seq > covered]
    wanted = tuple(start for start in starts if start[1] >= state.from_number)
    return FoldedThread(state, tuple(kept), wanted)


def fold_commit(state: ThreadState, commit: Commit) -> ThreadState:
    """The state after one more commit. A snapshot stands for everything up to its commit, itself included."""
    if commit.snapshot is not None:
        state, sent = commit.snapshot, tuple[OutboxMessage, ...]()
        changes: tuple[Change, ...] = tuple(c for c in commit.changes if isinstance(c, NAMED_BY_THE_COMMIT))
    else:
        changes, sent = commit.changes, commit.outbox
        for entry in commit.entries:
            state = apply_entry(state, entry)
    for change in changes:
        state = apply_change(state, change, commit)
    for message in sent:
        state = apply_sent(state, message)
    return state.model_copy(
        update={
            "number": commit.number,
            "digest": commit.digest,
            "birth": commit.birth,
            "last_seq": commit.last_seq,
            "from_number": commit.from_number,
            "origin": commit.origin or state.origin,
        }
    )


def _starts(commit: Commit) -> list[tuple[int, int]]:
    """Where a reader who starts at this commit, or before, finds what it holds: (first seq, its number)."""
    carried = commit.checkpoint.carried if commit.checkpoint else ()
    return [(entries[0].seq, commit.number) for entries in (carried, commit.entries) if entries]


def apply_entry(state: ThreadState, entry: Entry) -> ThreadState:
    """What an entry alone says: a call is live from its entry to its result's."""
    match entry:
        case ToolCall(call_id=call_id, seq=seq, name=name):
            live = (*state.live, LiveCall(call_id=call_id, seq=seq, name=name))
        case ToolResult(call_id=call_id):
            live = tuple(call for call in state.live if call.call_id != call_id)
        case _:
            return state
    return state.model_copy(update={"live": live})


def apply_sent(state: ThreadState, message: OutboxMessage) -> ThreadState:
    """What an outbox alone says: an answer tells what its turn took, which is recorded nowhere else then, and what
    choosing its route did.
    """
    if not isinstance(message, SendAnswer):
        return state
    told = state if message.routing is None or state.route is None else _with_told_route(state, state.route)
    return _with_usage(told, message.usage)


def apply_change(state: ThreadState, change: Change, commit: Commit | None = None) -> ThreadState:
    """`state` with one recorded change. `commit` names what it armed; a draft has no name for it yet."""
    if isinstance(change, OfCalls):
        return state.model_copy(update=_of_calls(state, change))
    if isinstance(change, OfInput):
        return state.model_copy(update=_of_input(state, change))
    if isinstance(change, OfTime):
        return state.model_copy(update=_of_time(change, commit))
    if isinstance(change, OfTurns):
        return _after_turn(state, change)
    if isinstance(change, OfState):
        return state.model_copy(update=_of_state(state, change))
    assert_never(change)


def _of_calls(state: ThreadState, change: OfCalls) -> dict[str, object]:
    match change:
        case CallOpened():
            return {"live": tuple(_opened(call, change) for call in state.live)}
        case SubscriptionOpened(subscription=subscription):
            return {"subscriptions": (*state.subscriptions, subscription)}
        case SubscriptionEnded(call_id=ended):
            return {"subscriptions": tuple(s for s in state.subscriptions if s.call_id != ended)}
        case ChildOpened(child=child):
            return {"children": (*state.children, child)}
        case ChildEnded(thread_id=ended):
            return {"children": tuple(child for child in state.children if child.thread_id != ended)}
        case _:
            assert_never(change)


def _of_input(state: ThreadState, change: OfInput) -> dict[str, object]:
    match change:
        case Owes(to=to, cause=cause):
            return {"owes": to is not None, "owes_to": to, "cause": cause}
        case InputDeferred(deferred=deferred):
            return {"deferred": (*state.deferred, deferred)}
        case DeferredJoined(count=count):
            return {"deferred": state.deferred[count:]}
        case Closed():
            return {"closed": True}
        case MetadataSet():
            return {}
        case _:
            assert_never(change)


def _of_time(change: OfTime, commit: Commit | None) -> dict[str, object]:
    match change:
        case WakeArmed():
            return {"wake": _wake(change, commit)}
        case WakeCleared():
            return {"wake": None}
        case TimerArmed(position=position, due_at=due_at):
            return {"timer": PendingTimer(id=_sent_as(commit, position), due_at=due_at)}
        case TimerCleared():
            return {"timer": None}
        case _:
            assert_never(change)


def _after_turn(state: ThreadState, change: OfTurns) -> ThreadState:
    match change:
        case TurnsUsed(turns=turns):
            return state.model_copy(update={"turns": turns})
        case CreditLeft(tokens=tokens):
            return state.model_copy(update={"credit": tokens})
        case UsageSeen(usage=usage):
            return _with_usage(state, usage)
        case EntriesHidden(entries=hidden):
            return state.model_copy(update={"hidden": (*state.hidden, *hidden)})
        case RouteChosen(route=route):
            return state.model_copy(update={"route": route})
        case Compacting(blocked=blocked, turned=turned):
            return state.model_copy(update={"blocked": blocked, "turned": turned})
        case _:
            assert_never(change)


def _of_state(state: ThreadState, change: OfState) -> dict[str, object]:
    match change:
        case SourcesSet(sources=sources):
            return {"sources": sources}
        case StateEdited(edits=edits):
            return {"stored_state": apply_edits(state.stored_state or {}, edits)}
        case StateSetAside():
            return {"stored_state": None, "state_aside": state.stored_state}
        case StateTakenBack():
            return {"stored_state": state.state_aside, "state_aside": None}
        case _:
            assert_never(change)


def _with_told_route(state: ThreadState, route: Route) -> ThreadState:
    return state.model_copy(update={"route": route.model_copy(update={"usage": None})})


def _with_usage(state: ThreadState, usage: Usage) -> ThreadState:
    return state.model_copy(update={"past_usage": (*state.past_usage, usage)[-PAST_TURNS:]})


def _opened(call: LiveCall, change: CallOpened) -> LiveCall:
    if call.call_id != change.call_id:
        return call
    opened = {name: getattr(change, name) for name in CALL_FIELDS}
    return call.model_copy(update=opened)


def _wake(change: WakeArmed, commit: Commit | None) -> PendingWake:
    sent_as = _sent_as(commit, change.position)
    return PendingWake(id=sent_as, reason=change.reason, due_at=change.due_at, tries=change.tries)


def _sent_as(commit: Commit | None, position: int) -> str:
    return "" if commit is None else outbox_id(commit.thread_id, commit.digest, position)
