"""Accepting `close`: the thread stops and takes nothing any more."""

from core.accept.effects import Effect, Shut, require_known, require_open
from core.thread import ThreadState


def accept(state: ThreadState) -> tuple[Effect, ...]:
    """Raises Refused for an unknown thread, or one that is closed already."""
    require_open(state)
    require_known(state)
    return (Shut(),)
