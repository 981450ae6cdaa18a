"""Answering live calls on a draft: by a result, an interruption, or a deadline, and what may join history then."""

from collections.abc import Iterable

from core.blocks import Content, text_content
from core.entries import Outcome, ToolResult
from core.history.draft import ThreadDraft
from core.outbox import SendCancel
from core.thread import LiveCall

INTERRUPTED = "Interrupted: newer input came before this call was answered. Its result, if any, was dropped."
WOKEN = "Ended early: something came."
NOT_APPROVED = "Not run: newer input came before anybody approved this call."


def answer(draft: ThreadDraft, result: ToolResult) -> list[str]:
    """Answer a live call; with the last one that is not passive, deferred inputs join. Returns what is interrupted.

    What a call of an earlier turn brings rouses what only waits. The calls of one turn do not wake each other.
    """
    call = draft.state.live_call(result.call_id)
    brings = call is not None and not call.passive and call.seq <= draft.committed.state.last_seq
    draft.append(result)
    return rouse(draft) if brings else join_if_idle(draft)


def rouse(draft: ThreadDraft) -> list[str]:
    """A result came: once nothing but passive calls is live, nobody needs to wait on. Returns what is interrupted."""
    return interrupt(draft) if draft.state.live and not draft.state.working else join_if_idle(draft)


def interrupt(draft: ThreadDraft) -> list[str]:
    """Answer every live call as interrupted, tell its worker, and let deferred inputs join. Returns the calls' ids."""
    interrupted = [call.call_id for call in draft.state.live]
    for call in draft.state.live:
        _give_up(draft, call, text_content(_why_interrupted(call)), "interrupted")
    draft.join_deferred()
    return interrupted


def time_out(draft: ThreadDraft, call_ids: Iterable[str], note: str) -> list[str]:
    """Answer these live calls as timed out, and tell their workers. Returns what that interrupts."""
    for call_id in call_ids:
        if (call := draft.state.live_call(call_id)) is not None:
            _give_up(draft, call, text_content(note), "timed_out")
    return rouse(draft)


def join_if_idle(draft: ThreadDraft) -> list[str]:
    """Once nothing but passive calls is live, let deferred inputs join. Returns the ids of what they interrupt."""
    return interrupt(draft) if draft.state.deferred and not draft.state.working else []


def _why_interrupted(call: LiveCall) -> str:
    """Told truthfully: whether it may have been run."""
    if call.passive:
        return WOKEN
    unapproved = call.question is not None and call.question.kind == "approval"
    return NOT_APPROVED if unapproved else INTERRUPTED


def _give_up(draft: ThreadDraft, call: LiveCall, content: Content, outcome: Outcome) -> None:
    """Answer a live call without its worker, and tell the worker that nobody waits any more."""
    draft.append(ToolResult(call_id=call.call_id, content=content, outcome=outcome))
    if call.worker is not None:
        draft.send(SendCancel(call_id=call.call_id, worker=call.worker))
