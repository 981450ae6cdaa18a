"""What a slice tells its witness of inputs and commits: pure readings of them that leave all content behind."""

from collections import Counter
from collections.abc import Iterator, Sequence

from core.changes import TimerArmed as TimerChange
from core.changes import WakeArmed as WakeChange
from core.commit import Commit
from core.correlation import correlation_taken
from core.entries import ToolResult
from core.errors import Refused
from core.facts import (
    CallDispatched,
    CallEnded,
    Committed,
    Fact,
    InputTaken,
    MessageLeft,
    Settled,
    ThreadSeen,
    ThreadSpawned,
    TimerArmed,
    WakeArmed,
)
from core.history.manager import HistoryManager
from core.ids import root_of
from core.messages import Input
from core.outbox import SendCall, SendSpawn
from core.ports import Outgoing, Unsent
from core.slice.apply import Taken
from core.supervisor import Player


def correlation_here(
    inputs: Sequence[Input], results: Sequence[Taken | Refused], owed_before: str | None
) -> str | None:
    """Of the slice: that of the first input that counts, else of the first."""
    pairs = list(zip(inputs, results, strict=True))
    counts = [taken for taken, result in pairs if result == "accepted"] or inputs
    return correlation_taken(counts[0], owed_before) if counts else owed_before


def thread_seen(manager: HistoryManager, player: Player, correlation_id: str | None) -> ThreadSeen:
    """The thread, after its inputs were taken in."""
    origin = manager.state.origin
    return ThreadSeen(
        root_thread_id=root_of(manager.thread_id),
        depth=len(origin.ancestors),
        kind=origin.kind,
        agent=player.name,
        correlation_id=correlation_id,
        commit=manager.draft.committed.state.number,
    )


def input_taken(taken: Input, result: Taken | Refused) -> InputTaken:
    """What became of an input."""
    call_id = getattr(taken.message, "call_id", None)
    if isinstance(result, Refused):
        return InputTaken(taken.message.type, taken.message_id, "refused", result.code)
    return InputTaken(taken.message.type, taken.message_id, result, call_id=call_id)


def facts_of(commit: Commit) -> Iterator[Fact]:
    """What the commit did."""
    yield Committed(
        commit=commit.number,
        first_seq=commit.first_seq,
        entries=len(commit.entries),
        consumed=len(commit.consumed),
        messages=Counter(message.kind for message in commit.outbox),
    )
    for entry in commit.entries:
        if isinstance(entry, ToolResult):
            yield CallEnded(entry.call_id, entry.outcome)
    for message in commit.outbox:
        match message:
            case SendCall(call_id=call_id, worker=worker, deadline_at=deadline_at):
                yield CallDispatched(call_id, worker, deadline_at)
            case SendSpawn(thread_id=child, child_kind=kind):
                yield ThreadSpawned(child, kind)
            case _:
                pass
    for change in commit.changes:
        match change:
            case WakeChange(reason=reason, due_at=due_at, tries=tries):
                yield WakeArmed(reason, due_at, tries)
            case TimerChange(due_at=due_at):
                yield TimerArmed(due_at)
            case _:
                pass


def settled(
    commit: Commit, messages: Sequence[Outgoing], unsent: Sequence[Unsent], carried: Sequence[Unsent]
) -> Settled:
    """How sending the outbox of `commit` ended."""
    failed = {one.message.id for one in unsent}
    sent = Counter(message.queue.partition(":")[0] for message in messages if message.id not in failed)
    on = {one.message.id for one in carried}
    left = tuple(
        MessageLeft(one.message.id, one.message.queue, one.reason, carried=one.message.id in on)
        for one in unsent
    )
    return Settled(commit.number, sent, left)
