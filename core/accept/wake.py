"""Accepting a `wake`: only the one this thread waits for means anything."""

from core.accept.effects import Effect, RearmWake, Setting, TakeWake
from core.messages import Input
from core.thread import ThreadState


def accept(taken: Input, state: ThreadState, setting: Setting) -> tuple[Effect, ...]:
    """No effects for any other wake. One that comes early is armed again, for the same instant.

    A closed thread waits for one too, while messages of it are carried on.
    """
    wake = state.wake
    if wake is None or wake.id != taken.message_id:
        return ()
    if wake.due_at is not None and setting.now < wake.due_at:
        return (RearmWake(wake),)
    return (TakeWake(),)
