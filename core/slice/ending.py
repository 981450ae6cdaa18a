"""How a thread ends, and how its parent hears of it (invariant *never stuck*): every end sends one closing report."""

from core.changes import ChildEnded
from core.entries import AppEntry, Assistant, Reasoning, ToolCall, ToolResult, TurnEnd
from core.history.manager import HistoryManager
from core.outbox import SendClose, SendCompactionDone, SendReport
from core.slice.debts import stop
from core.text import clip_json

MAX_REPORT_BYTES = 262_144
"""Of a last text as ASCII-escaped JSON: what is longer is cut, so that the report fits one message."""

ENDS = {
    "empty": "It ended without an answer.",
    "failed": "It failed.",
    "cancelled": "It was cancelled.",
    "limit": "It reached a limit.",
}


def shut(manager: HistoryManager, report: str | None, *, asked_for: bool = False) -> None:
    """End the thread: its live calls, subscriptions, timers and open children with it. It takes nothing any more.

    `report` goes to its parent; None: the parent is told silently, and only gets the credit back. So it is of a child
    for an event too, unless its model asked for this very report.
    """
    stop(manager)
    for call_id in manager.active_subscriptions:
        manager.remove_subscription(call_id, tell_worker=True)
    silent = manager.state.origin.kind == "event" and not asked_for
    _close(manager, None if silent else report)


def end_if_idle(manager: HistoryManager) -> None:
    """A child that ended its turn with nothing to wait for, and did not close, reports its last text and closes."""
    state = manager.state
    if state.exists and not state.closed and state.origin.parent is not None and state.idle:
        _close(manager, None if state.origin.kind == "event" else last_text(manager))


def last_text(manager: HistoryManager) -> str:
    """What the thread said last, since it was last told anything; and how it ended, if it did not end well."""
    said: list[str] = []
    end = ""
    for entry in reversed(manager.draft.history):
        match entry:
            case Assistant(text=text):
                said.append(text)
            case TurnEnd(reason=reason) if not said:
                end = end or ENDS[reason]
            case Reasoning() | TurnEnd() | ToolCall() | AppEntry():
                pass
            case ToolResult() if not said:
                pass
            case _:
                break
    text = "\n".join([*([end] if end else []), *reversed(said)])
    return clip_json(text or "It ended without a word.", MAX_REPORT_BYTES)


def _close(manager: HistoryManager, report: str | None) -> None:
    origin, draft = manager.state.origin, manager.draft
    if origin.parent is not None and origin.kind == "compaction":
        draft.send(SendCompactionDone(parent=origin.parent, text=_summary(manager)))
    elif origin.parent is not None and origin.spawning_call is not None:
        draft.send(
            SendReport(
                parent=origin.parent,
                call_id=origin.spawning_call,
                text=report,
                closing=True,
                credit=max(0, manager.state.credit or 0),
            )
        )
    for child in manager.state.children:
        draft.send(SendClose(thread_id=child.thread_id))
        draft.record(ChildEnded(thread_id=child.thread_id))
    draft.set_state(closed=True)


def _summary(manager: HistoryManager) -> str | None:
    """What a compaction child answered; None if it did not end well."""
    last = manager.draft.history[-1] if manager.draft.history else None
    return last_text(manager) if isinstance(last, Assistant) else None
