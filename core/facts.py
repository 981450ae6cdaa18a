"""Facts: what a slice tells of itself while it runs, for logs, metrics and traces. Ids, counts, kinds; no content.

Apart from what an observer is told (`core/slice/notices.py`), which is content: a witness can give away nothing that
it is not told. What a commit did is told after it stands, so a lost race leaves no trace of its turn.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from core.chunks import Usage
from core.entries import Outcome
from core.errors import ErrorCode
from core.thread import ChildKind, WakeReason

Phase = Literal["load", "settle", "accept", "round", "tools", "commit", "dispatch"]
"""`settle`: of what another slice left unsettled. `round`: a completion and what stands around it. `tools`: inline
ones. `dispatch`: settling the slice's own commit.
"""
Taken = Literal["accepted", "duplicate", "stale", "returned", "refused"]


@dataclass(frozen=True, slots=True)
class Entered:
    """The slice is in this phase from now on."""

    phase: Phase


@dataclass(frozen=True, slots=True)
class ThreadSeen:
    """The inputs are taken in: this is the thread, who plays it, and what the work goes back to."""

    root_thread_id: str
    depth: int
    kind: ChildKind | None
    agent: str
    """Or the supervisor, whoever it routes to."""
    correlation_id: str | None
    commit: int
    """The newest one loaded."""


@dataclass(frozen=True, slots=True)
class InputTaken:
    """What became of one input."""

    type: str
    message_id: str
    result: Taken
    code: ErrorCode | None = None
    """Of a refusal."""
    call_id: str | None = None
    """The call that it is for."""


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """A try of a completion begins."""

    model: str
    attempt: int


@dataclass(frozen=True, slots=True)
class ModelAnswered:
    """The completion is whole."""

    stop_reason: str
    """The provider's own word: of no known length or alphabet."""
    usage: Usage


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """The try gave no whole completion. `error`: a class of ours; None: it was given up for lack of time."""

    error: str | None


@dataclass(frozen=True, slots=True)
class Committed:
    """A commit stands."""

    commit: int
    first_seq: int
    entries: int
    consumed: int
    messages: Mapping[str, int]
    """What it promised to send, by kind."""


@dataclass(frozen=True, slots=True)
class CallDispatched:
    """A call goes to its worker."""

    call_id: str
    worker: str
    deadline_at: datetime


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A call has its result."""

    call_id: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class ThreadSpawned:
    """A child thread is on its way."""

    child_thread_id: str
    kind: ChildKind


@dataclass(frozen=True, slots=True)
class WakeArmed:
    """The thread will go on by itself. `due_at` None: at once."""

    reason: WakeReason
    due_at: datetime | None
    tries: int


@dataclass(frozen=True, slots=True)
class TimerArmed:
    """The thread will be told that a deadline, an expiry or the end of a sleep has come."""

    due_at: datetime


@dataclass(frozen=True, slots=True)
class MessageLeft:
    """A message was not confirmed. `carried`: the next commit sends it again; otherwise nobody does."""

    outbox_id: str
    queue: str
    reason: str
    """A code of the service's, or our own words: never a body."""
    carried: bool


@dataclass(frozen=True, slots=True)
class Settled:
    """A commit was settled, or as much of it as could be."""

    commit: int
    sent: Mapping[str, int]
    """Confirmed messages, by queue."""
    left: tuple[MessageLeft, ...] = ()


@dataclass(frozen=True, slots=True)
class RaceLost:
    """Another slice committed first: this one begins again, or is left to the queue."""


Fact = (
    Entered
    | ThreadSeen
    | InputTaken
    | ModelAsked
    | ModelAnswered
    | ModelFailed
    | Committed
    | CallDispatched
    | CallEnded
    | ThreadSpawned
    | WakeArmed
    | TimerArmed
    | Settled
    | RaceLost
)


class Witness(Protocol):
    """Hears what a slice does, in order. May not fail, takes no time worth counting, and decides nothing."""

    def hear(self, fact: Fact) -> None:
        """Take note of it."""
        ...


class Deaf:
    """Hears nothing."""

    def hear(self, fact: Fact) -> None:
        """Ignore it."""


DEAF = Deaf()
