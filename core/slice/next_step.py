"""What next: the pure decision between rounds. The shell asks after every commit and does what it says."""

from dataclasses import dataclass
from datetime import datetime

from core.settings import Limits
from core.slice.ports import time_for_completion
from core.thread import ThreadState


@dataclass(frozen=True, slots=True)
class Situation:
    """What the decision depends on beside the thread."""

    now: datetime
    seconds_left: float
    rounds: int
    """Completions made in this slice."""
    fresh_input: bool
    """Whether this slice accepted an input: then a pending retry need not be waited for."""
    completing: bool = True
    """False in the dead-letter handler."""


@dataclass(frozen=True, slots=True)
class Complete:
    """Make a completion."""


@dataclass(frozen=True, slots=True)
class LeaveWake:
    """End the slice; a wake goes on (invariant *never stuck*)."""


@dataclass(frozen=True, slots=True)
class Rest:
    """End the slice: nothing is due, or what is pending will come."""


Step = Complete | LeaveWake | Rest


def next_step(state: ThreadState, limits: Limits, situation: Situation) -> Step:
    """What a slice does next with a thread in this state."""
    if not state.runnable:
        return Rest()
    if not situation.completing:
        return _rest_or_wake(state)
    if _waits_for_retry(state, situation):
        return Rest()
    if situation.rounds >= limits.rounds_per_slice or not time_for_completion(situation.seconds_left):
        return _rest_or_wake(state)
    return Complete()


def _rest_or_wake(state: ThreadState) -> Step:
    """A wake goes on, unless one is waited for. One that comes back for unsent messages may be long in coming."""
    return LeaveWake() if state.wake is None or state.wake.reason == "resend" else Rest()


def _waits_for_retry(state: ThreadState, situation: Situation) -> bool:
    wake = state.wake
    if wake is None or wake.reason != "model" or wake.due_at is None:
        return False
    return not situation.fresh_input and situation.now < wake.due_at
