"""Accepting a `parent_message`: like user text that never interrupts work; it comes back if nobody is there."""

from core.accept.effects import Defer, Effect, NewUserInput, Take
from core.blocks import text_content
from core.entries import User
from core.errors import Returned
from core.messages import ParentMessage
from core.thread import ThreadState

NOT_TAKEN = "This message was not taken: the thread is closed, or never began."
"""One text for both: a message that comes again may find the other, and must come back the same (*derived ids*)."""


def accept(message: ParentMessage, state: ThreadState) -> tuple[Effect, ...]:
    """Raises Returned for a closed or unknown child: the message goes back to the parent as a report."""
    if state.closed or not state.exists:
        raise Returned(NOT_TAKEN)
    entry = User(content=text_content(message.text))
    return (Defer(entry) if state.working else Take(entry), NewUserInput())
