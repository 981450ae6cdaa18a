"""Accepting `cancel`: live calls are answered as interrupted, nothing is owed any more."""

from core.accept.effects import Effect, Stop, require_known, require_open
from core.thread import ThreadState


def accept(state: ThreadState) -> tuple[Effect, ...]:
    """Raises Refused for an unknown or closed thread."""
    require_open(state)
    require_known(state)
    return (Stop(),)
