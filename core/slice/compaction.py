"""Compaction: a child summarises what is known to the safe point; its summary stands for that from a commit on.

One at a time, and never two without a turn between. It has a deadline, so that a completion which waits for it goes on
without a summary, if need be (invariant *never stuck*).
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from core.accept.effects import EndCompaction
from core.agent import Agent
from core.changes import ChildEnded
from core.child_messages import COMPACTION_CALL
from core.entries import AppEntry, Entry, Event, ToolResult, User
from core.history.cuts import safe_cut
from core.history.manager import HistoryManager
from core.ids import child_thread_id, compaction_cause
from core.outbox import SendClose, SendCompacted, SendSpawn
from core.render import plain_text
from core.spawning import lineage_here, open_child, played_by
from core.text import shorten
from core.thread import Child, Summary

DEADLINE = timedelta(minutes=30)
"""For a compaction, retries of its model included."""
SUMMARY_CHARACTERS = 20_000
PINNED_CHARACTERS = 10_000
"""What is longer is cut: a summary must be bounded."""


def compaction_point(manager: HistoryManager) -> int | None:
    """The seq up to which a compaction that begins now would summarise; None if none may, or nothing is to be covered.

    The safe point, but before what is still to be answered: that must reach the model word for word.
    """
    state = manager.state
    if state.closed or state.compaction is not None or not state.turned or state.origin.kind == "compaction":
        return None
    entries = list(manager.draft.history)
    while state.owes and entries and isinstance(entries[-1], User | Event | AppEntry):
        entries.pop()
    if state.owes and _is_opening(entries):
        entries = []
    covered = state.summary.up_to_seq if state.summary else 0
    point = max(safe_cut(entries), covered)
    more = point > covered or (state.summary is None and bool(manager.inherited.entries))
    return point if more else None


def _is_opening(entries: Sequence[Entry]) -> bool:
    """Whether these are no more than what a child was told when it began."""
    first = entries[0] if entries else None
    return (
        first is not None
        and first.seq == 1
        and first.message_id is not None
        and all(entry.message_id == first.message_id for entry in entries)
    )


def start_compaction(manager: HistoryManager, agent: Agent, now: datetime, *, blocking: bool) -> bool:
    """Spawn the child that summarises, if one may begin. `blocking`: the next completion waits for it, or for the one
    that is under way. Returns whether there is one to wait for.
    """
    if manager.state.compaction is not None:
        manager.draft.set_state(blocked=manager.state.blocked or blocking)
        return True
    point = compaction_point(manager)
    if point is None:
        return False
    draft, state = manager.draft, manager.state
    cause = compaction_cause(manager.thread_id, draft.birth, draft.committed.state.number + 1)
    spawn = SendSpawn(
        thread_id=child_thread_id(manager.thread_stack[0], cause),
        call_id=COMPACTION_CALL,
        child_kind="compaction",
        agent=played_by(state, agent),
        credit=agent.limits.tokens,
        lineage=lineage_here(draft, point),
    )
    child = Child(
        thread_id=spawn.thread_id,
        call_id=spawn.call_id,
        kind="compaction",
        deadline_at=now + DEADLINE,
        up_to_seq=point,
    )
    open_child(draft, spawn, child)
    draft.set_state(turned=False, blocked=blocking)
    return True


def end_compaction(manager: HistoryManager, agent: Agent, ended: EndCompaction) -> None:
    """Let the summary stand for what it covers; without one everything stays as it is."""
    child, draft = ended.child, manager.draft
    draft.record(ChildEnded(thread_id=child.thread_id))
    draft.set_state(blocked=False)
    if ended.overdue:
        draft.send(SendClose(thread_id=child.thread_id))
    text = (ended.text or "").strip()
    if text and child.up_to_seq is not None:
        summary = Summary(
            shorten(text, SUMMARY_CHARACTERS), child.up_to_seq, _pinned(manager, agent, child.up_to_seq)
        )
        manager.apply_compaction(summary)
        draft.send(SendCompacted(up_to_seq=child.up_to_seq))


def _pinned(manager: HistoryManager, agent: Agent, up_to_seq: int) -> str | None:
    """What is kept word for word beside a summary that covers it: a child's task, always; the first user message, where
    its agent wants that.
    """
    before, is_child = manager.summary, manager.state.origin.parent is not None
    kept = [before.pinned] if before is not None and before.pinned is not None else []
    if before is None and agent.settings.pin_first_message:
        shown = manager.inherited.entries if is_child else manager.history
        first = next((entry for entry in shown if isinstance(entry, User)), None)
        kept += [] if first is None else [shorten(plain_text(first.content), PINNED_CHARACTERS)]
    own = manager.draft.history
    if is_child and own and own[0].seq == 1:
        told = next((e for e in own if isinstance(e, ToolResult) and e.seq <= up_to_seq), None)
        kept += [] if told is None else [shorten(plain_text(told.content), PINNED_CHARACTERS)]
    return "\n\n".join(kept) or None
