"""What a thread waits for, held against *never stuck*: each wait has an end, and none of them is long over."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from core.thread import LiveCall, ThreadState
from infra.operations.findings import Finding
from infra.operations.shown import duration, instant

LONG = timedelta(minutes=15)
"""After its instant something is late: queues, the relay and a busy group may take a while."""
LOOK = "look into `torpor dlq list` and the dead-letter queues; `torpor cancel THREAD` ends what is live"


def waiting_findings(state: ThreadState, *, settled: bool, now: datetime) -> Iterator[Finding]:
    """What is wrong with what the thread waits for."""
    if state.closed:
        if state.live or state.owes:
            yield Finding("never stuck", "state", "it is closed, and something is live or owed", LOOK)
        return
    for call in state.live:
        yield from _call(call, now)
    due_at, timer = state.due_at, state.timer
    if due_at is not None and (timer is None or timer.due_at > due_at):
        armed = "no timer is armed" if timer is None else f"the timer comes at {instant(timer.due_at)}"
        yield Finding("never stuck", "timer", f"something is due at {instant(due_at)}, and {armed}", LOOK)
    elif timer is not None and settled:
        yield from _late("timer", "the timer", timer.due_at, now)
    if state.wake is not None and settled and state.wake.due_at is not None:
        yield from _late("wake", "the wake", state.wake.due_at, now)
    if state.runnable and state.wake is None and settled:
        what = "an answer is owed and no wake is out: a slice is at it, or its message comes again"
        yield Finding("never stuck", "state", what, "if it stays so: `torpor send THREAD …`", note=True)


def _call(call: LiveCall, now: datetime) -> Iterator[Finding]:
    where = f"call {call.call_id}"
    if call.due_at is None and not call.passive and not call.approved_here:
        yield Finding("never stuck", where, f"{call.name} is live, and nothing ends it", LOOK)
    elif call.due_at is not None:
        yield from _late(where, call.name, call.due_at, now)


def _late(where: str, what: str, due_at: datetime, now: datetime) -> Iterator[Finding]:
    if now - due_at > LONG:
        found = f"{what} was due at {instant(due_at)}, {duration(now - due_at)} ago"
        yield Finding("never stuck", where, found, LOOK, note=True)
