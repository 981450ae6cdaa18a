"""Accepting `close`: the thread stops and takes nothing any more, and a child's parent hears of it."""

from core.accept.effects import Effect, Shut, require_known, require_open
from core.messages import Close
from core.thread import ThreadState

CLOSED_BY_A_PERSON = "It was closed from outside before it was done."


def accept(message: Close, state: ThreadState) -> tuple[Effect, ...]:
    """Raises Refused for an unknown thread, or one that is closed already; a parent's own close is dropped there."""
    by_parent = message.closed_by is not None
    if by_parent and (state.closed or message.closed_by != state.origin.parent):
        return ()
    require_open(state)
    require_known(state)
    return (Shut(None if by_parent else CLOSED_BY_A_PERSON),)
