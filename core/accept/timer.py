"""Accepting a deadline `timer`: overdue calls are timed out, the earliest of the others is armed next."""

from core.accept.effects import ArmTimer, Effect, Setting, TimeOut
from core.messages import Input
from core.thread import ThreadState


def accept(taken: Input, state: ThreadState, setting: Setting) -> tuple[Effect, ...]:
    """No effects for any timer but the one this thread waits for. One that comes early is armed again."""
    timer = state.timer
    if state.closed or timer is None or timer.id != taken.message_id:
        return ()
    deadlines = {call.call_id: call.deadline_at for call in state.live if call.deadline_at is not None}
    overdue = tuple(call_id for call_id, deadline in deadlines.items() if deadline <= setting.now)
    later = [deadline for deadline in deadlines.values() if deadline > setting.now]
    rearm = ArmTimer(min(later, default=None))
    return (TimeOut(overdue), rearm) if overdue else (rearm,)
