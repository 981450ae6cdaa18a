"""Accepting `close`: the thread stops and takes nothing any more, and a child's parent hears of it."""

from core.accept.effects import Effect, Setting, Shut, require_known, require_open
from core.messages import Close, Input
from core.senders import may_send
from core.thread import ThreadState

CLOSED_BY_A_PERSON = "It was closed from outside before it was done."


def accept(message: Close, taken: Input, state: ThreadState, setting: Setting) -> tuple[Effect, ...]:
    """Raises Refused for an unknown thread, or one that is closed already; a parent's own close is dropped there.

    Only Torpor can say that a parent closed its child: from anybody else the parent still hears (*never stuck*).
    """
    by_parent = message.closed_by is not None and may_send(
        setting.senders, taken.sender, "parent_message", message.thread_id, None
    )
    if by_parent and (state.closed or message.closed_by != state.origin.parent):
        return ()
    require_open(state)
    require_known(state)
    return (Shut(None if by_parent else CLOSED_BY_A_PERSON),)
