"""What a thread is: the fold of its commits. Values only; `core/fold.py` computes them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from core.blocks import Value
from core.entries import Entry, Event, User
from core.outbox import WakeReason
from core.sources import Source


class Ancestor(Value):
    """One step of a lineage: how much of an ancestor's log a thread inherits (storage.md, "Load")."""

    thread_id: str
    cutoff_seq: int
    first_commit: int
    last_commit: int
    base: int | None = None


class Origin(Value):
    """Where a thread comes from. Written once, by its first commit."""

    agent: str | None = None
    """The agent asked for; None means the app's default."""
    parent: str | None = None
    spawning_call: str | None = None
    lineage: tuple[Ancestor, ...] = ()
    """Root first; empty for a root thread."""


class LiveCall(Value):
    """A call without a result. Inline calls are answered in the commit that holds them."""

    call_id: str
    seq: int
    name: str
    worker: str | None = None
    deadline_at: datetime | None = None
    passive: bool = False


class PendingWake(Value):
    """The wake this thread waits for. A wake with another id does nothing."""

    id: str
    reason: WakeReason
    due_at: datetime | None = None
    tries: int = 0
    """That the pending completion has had, counted over slices; of a resend wake, that sending has had."""


class PendingTimer(Value):
    """The deadline timer this thread waits for; others are stale."""

    id: str
    due_at: datetime


class Deferred(Value):
    """An accepted input that waits for the last non-passive live call."""

    entry: User | Event
    message_id: str


class Subscription(Value):
    """An open subscription, with what compaction would otherwise take away."""

    call_id: str
    name: str
    args: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Summary:
    """What stands for everything up to `up_to_seq`."""

    text: str
    up_to_seq: int


class Hidden(Value):
    """An entry that later requests show otherwise: what a filter blocked, media that a model refused, or what is too
    long for its window.
    """

    seq: int
    what: Literal["all", "media", "long"]


class ThreadState(Value):
    """Everything about a thread but its entries, after the commit `number`."""

    number: int = 0
    digest: str = ""
    """Of commit `number`; empty before the first."""
    last_seq: int = 0
    birth: str = ""
    from_number: int = 1
    origin: Origin = Origin()
    live: tuple[LiveCall, ...] = ()
    owes: bool = False
    owes_to: str | None = None
    """Message id of the newest input that an answer is owed to."""
    turns: int = 0
    """Model turns since the last accepted user text."""
    credit: int | None = None
    """Tokens left; None before the first input."""
    wake: PendingWake | None = None
    timer: PendingTimer | None = None
    deferred: tuple[Deferred, ...] = ()
    subscriptions: tuple[Subscription, ...] = ()
    sources: tuple[Source, ...] = ()
    """Collected since the last accepted user text."""
    hidden: tuple[Hidden, ...] = ()
    closed: bool = False
    summary: Summary | None = None

    @property
    def exists(self) -> bool:
        """Whether an input has made the thread, in an earlier commit or in this one's draft."""
        return self.number > 0 or self.last_seq > 0

    @property
    def working(self) -> bool:
        """Whether a live call that is not passive holds the thread."""
        return any(not call.passive for call in self.live)

    @property
    def runnable(self) -> bool:
        """Owes, and no call is live: a completion is due."""
        return self.owes and not self.live and not self.closed

    @property
    def waiting(self) -> bool:
        """Whether something will still come for this thread, so that it must not expire."""
        return bool(self.owes or self.live or self.subscriptions or self.wake or self.timer)

    def live_call(self, call_id: str) -> LiveCall | None:
        return next((call for call in self.live if call.call_id == call_id), None)


@dataclass(frozen=True, slots=True)
class FoldedThread:
    """A thread as its readers hold it: the state and the entries that no summary covers."""

    state: ThreadState = ThreadState()
    entries: tuple[Entry, ...] = ()
    starts: tuple[tuple[int, int], ...] = ()
    """(first seq, commit number) of each loaded commit with entries, ascending."""

    def commit_holding(self, seq: int) -> int | None:
        """The number of the loaded commit that holds entry `seq`."""
        if seq > self.state.last_seq:
            return None
        return next((number for first, number in reversed(self.starts) if first <= seq), None)
