"""Accepting a `timer`: what is due by now happens; what is due later arms the next timer by itself."""

from collections.abc import Iterator
from datetime import datetime

from core.accept.effects import Effect, EndCompaction, EndSleep, Setting, TakeTimer, TellWorker, TimeOut
from core.messages import Input
from core.thread import LiveCall, ThreadState

NO_RESULT = "No result before the deadline of this call."
NOT_APPROVED = "Not run: nobody approved this call in time."
NOT_ANSWERED = "Nobody answered this call's question in time."


def accept(taken: Input, state: ThreadState, setting: Setting) -> tuple[Effect, ...]:
    """No effects for any timer but the one this thread waits for. One that comes early is armed again."""
    timer = state.timer
    if state.closed or timer is None or timer.id != taken.message_id:
        return ()
    return (TakeTimer(), *_due(state, setting))


def _due(state: ThreadState, setting: Setting) -> Iterator[Effect]:
    """What is over, sleeps first: a result that comes after may interrupt what only waits."""
    now = setting.now
    calls = [call for call in state.live if call.due_at is not None and call.due_at <= now]
    yield from (EndSleep(call.call_id) for call in calls if call.passive)
    yield from (_overdue(call, now) for call in calls if not call.passive)
    child = state.compaction
    if child is not None and child.deadline_at is not None and child.deadline_at <= now:
        yield EndCompaction(child, None, overdue=True)


def _overdue(call: LiveCall, now: datetime) -> Effect:
    """A default is taken only while the call itself has time left to use it."""
    question = call.question
    if question is None:
        return TimeOut((call.call_id,), NO_RESULT)
    over = call.deadline_at is not None and call.deadline_at <= now
    if question.default is not None and not over:
        return TellWorker(call.call_id, question.default, "", expired=True)
    return TimeOut((call.call_id,), NOT_APPROVED if question.kind == "approval" else NOT_ANSWERED)
