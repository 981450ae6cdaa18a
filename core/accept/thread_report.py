"""Accepting a `thread_report`: what a child says reaches the model as an event; its end gives its credit back."""

from core.accept.effects import Defer, Effect, EndChild, Setting, Take
from core.blocks import text_content
from core.entries import Event
from core.messages import ThreadReport
from core.thread import Child, ThreadState


def accept(message: ThreadReport, state: ThreadState, setting: Setting) -> tuple[Effect, ...]:
    """No effects for a closed thread, or for the end of a child that is not open here (any more). A compaction ends
    otherwise: by what it brings, or by its deadline.
    """
    if state.closed or not state.exists:
        return ()
    child, call_id = state.child(message.child_thread_id), message.call_id
    ends: tuple[Effect, ...] = ()
    if message.closing:
        if child is None or child.kind == "compaction":
            return ()
        call_id, ends = child.call_id, (EndChild(child, _credit_back(message, child, state, setting)),)
    if message.text is None:
        return ends
    event = Event(
        call_id=call_id,
        name="",
        child_thread_id=message.child_thread_id,
        content=text_content(message.text),
    )
    return (*ends, Defer(event) if state.working else Take(event))


def _credit_back(message: ThreadReport, child: Child, state: ThreadState, setting: Setting) -> int:
    """At most what the child was given; a root never has more than its whole tree may."""
    credit = (state.credit or 0) + min(max(0, message.credit), child.credit)
    return credit if state.origin.parent else min(credit, setting.agent.limits.tokens)
