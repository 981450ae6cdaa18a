"""What a thread is: the fold of its commits. Values only; `core/fold.py` computes them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from core.blocks import Value
from core.chunks import Usage
from core.entries import AppEntry, Entry, Event, User
from core.origin import Ancestor as Ancestor
from core.origin import ChildKind as ChildKind
from core.origin import ForkPoint as ForkPoint
from core.origin import Hidden as Hidden
from core.origin import Origin as Origin
from core.route import Route
from core.sources import Source

WakeReason = Literal["continue", "model", "resend"]


class Child(Value):
    """A child thread that has not ended, as far as its parent knows."""

    thread_id: str
    call_id: str
    """The call that spawned it, or whose event did."""
    kind: ChildKind = "spawned"
    credit: int = 0
    """Tokens that it was given. It returns at most that."""
    deadline_at: datetime | None = None
    """Of a compaction: when it is no longer waited for."""
    up_to_seq: int | None = None
    """Of a compaction: what its summary will cover."""


QuestionKind = Literal["approval", "choice", "auth"]


class Question(Value):
    """What a person is asked about a live call, until `expires_at`."""

    kind: QuestionKind
    expires_at: datetime
    asked_by: str = ""
    """Id of the message that a running tool asked by: what its answer refers to. Of an approval: nothing."""
    prompt: str = ""
    """Of a choice: what to choose. Of an authorisation: where, as a URL. Of an approval: nothing, the call says it."""
    choices: tuple[str, ...] = ()
    default: str | None = None
    """Of a choice: what is taken when nobody answers in time."""


class LiveCall(Value):
    """A call without a result. Inline calls are answered in the commit that holds them."""

    call_id: str
    seq: int
    name: str
    worker: str | None = None
    deadline_at: datetime | None = None
    passive: bool = False
    """It only waits, and anything may interrupt it."""
    until: datetime | None = None
    """Of a passive call: when it is over. None: when something comes."""
    question: Question | None = None
    """Open: somebody is asked. A call that waits for its approval has not been dispatched."""
    note: str = ""
    """What the model must be told with its result: that a person edited its arguments, say."""
    args: dict[str, Any] | None = None
    """Those that a person gave it, in place of the entry's."""

    @property
    def approved_here(self) -> bool:
        """Whether this is an inline call that a person approved, which a slice has yet to run."""
        return self.worker is None and not self.passive and self.question is None

    @property
    def due_at(self) -> datetime | None:
        """When something must happen to this call though nothing comes for it."""
        instants = (self.deadline_at, self.until, self.question.expires_at if self.question else None)
        return min((instant for instant in instants if instant is not None), default=None)


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
    worker: str | None = None
    """Whom to tell when it is ended from here."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What stands for everything up to `up_to_seq`."""

    text: str
    up_to_seq: int
    pinned: str | None = None
    """What is kept word for word beside the summary: a child's task, and the first user message if that is wanted."""


class ThreadState(Value):
    """Everything about a thread but its entries, after the commit `number`."""

    number: int = 0
    digest: str = ""
    """Of commit `number`; empty before the first."""
    last_seq: int = 0
    erased_seq: int | None = None
    """The last entry of the log before this one under the same id, if one was erased: numbers go on behind it."""
    birth: str = ""
    from_number: int = 1
    base_number: int | None = None
    """Number of the base that holds `summary`."""
    origin: Origin = Origin()
    live: tuple[LiveCall, ...] = ()
    owes: bool = False
    owes_to: str | None = None
    """Message id of the newest input that an answer is owed to."""
    cause: str | None = None
    """Correlation id of what is worked on; None: that of `owes_to` (`core/correlation.py`)."""
    turns: int = 0
    """Model turns since the last accepted user text."""
    credit: int | None = None
    """Tokens left; None before the first input."""
    wake: PendingWake | None = None
    timer: PendingTimer | None = None
    deferred: tuple[Deferred, ...] = ()
    subscriptions: tuple[Subscription, ...] = ()
    children: tuple[Child, ...] = ()
    sources: tuple[Source, ...] = ()
    """Collected since the last accepted user text."""
    stored_state: dict[str, Any] | None = None
    """The own fields of the author's state, as `core/state/stored.py` reads them; None before any was stored."""
    state_aside: dict[str, Any] | None = None
    """What was stored and fitted the agent's state type no more; the newest of such."""
    app_kept: tuple[AppEntry, ...] = ()
    """Of the application's own messages that a summary covers, the newest of each role (`core/history/app_log.py`)."""
    past_usage: tuple[Usage, ...] = ()
    """What the newest turns took, oldest first."""
    hidden: tuple[Hidden, ...] = ()
    route: Route | None = None
    """None: not chosen yet, or there is no supervisor."""
    closed: bool = False
    blocked: bool = False
    """A completion waits for the compaction that is under way."""
    turned: bool = True
    """Whether a turn was made, or failed, since the last compaction began: never two without one between. User text
    after one that failed is reason enough to try again.
    """
    summary: Summary | None = None

    @property
    def exists(self) -> bool:
        """Whether an input has made the thread, in an earlier commit or in this one's draft."""
        begun = self.number > 0 and self.erased_seq is None
        return begun or self.last_seq > (self.erased_seq or 0)

    @property
    def covered_seq(self) -> int:
        """Up to which entry nothing is read: a summary covers it, or it was erased."""
        return max(self.summary.up_to_seq if self.summary else 0, self.erased_seq or 0)

    @property
    def played_by(self) -> str | None:
        """The agent that plays the thread, as its log says: a deployment may say otherwise. None: the app's default."""
        return self.route.agent if self.route else self.origin.agent

    @property
    def working(self) -> bool:
        """Whether a live call that is not passive holds the thread."""
        return any(not call.passive for call in self.live)

    @property
    def runnable(self) -> bool:
        """Owes, no call is live, and no compaction must be waited for: a completion is due."""
        return self.owes and not self.live and not self.closed and not (self.blocked and self.compaction)

    @property
    def waiting(self) -> bool:
        """Whether something will still come for this thread, so that it must not expire."""
        return bool(self.owes or self.live or self.subscriptions or self.children or self.wake or self.timer)

    @property
    def idle(self) -> bool:
        """Whether nothing will happen here until somebody outside wants something new. Nobody waits for a summary."""
        children = any(child.kind != "compaction" for child in self.children)
        return not (self.owes or self.live or self.subscriptions or children or self.deferred)

    @property
    def compaction(self) -> Child | None:
        """The compaction under way."""
        return next((child for child in self.children if child.kind == "compaction"), None)

    @property
    def due_at(self) -> datetime | None:
        """When something must happen here though nothing comes: a deadline, an expiry, the end of a sleep."""
        calls = (call.due_at for call in self.live)
        children = (child.deadline_at for child in self.children)
        return min((instant for instant in (*calls, *children) if instant is not None), default=None)

    def live_call(self, call_id: str) -> LiveCall | None:
        return next((call for call in self.live if call.call_id == call_id), None)

    def child(self, thread_id: str) -> Child | None:
        """The open child of that id."""
        return next((child for child in self.children if child.thread_id == thread_id), None)


@dataclass(frozen=True, slots=True)
class FoldedThread:
    """A thread as its readers hold it: the state and the entries that no summary covers."""

    state: ThreadState = ThreadState()
    entries: tuple[Entry, ...] = ()
    starts: tuple[tuple[int, int], ...] = ()
    """(first seq, commit number) of each loaded commit with entries, and of what one carries, ascending."""

    def commit_holding(self, seq: int) -> int | None:
        """The number of the loaded commit that holds entry `seq`, its own or carried."""
        if seq > self.state.last_seq:
            return None
        return next((number for first, number in reversed(self.starts) if first <= seq), None)


@dataclass(frozen=True, slots=True)
class Inherited:
    """What a thread reads of its lineage before its own log: entries that no summary covers, oldest ancestor first.

    Entries keep the `seq` of their own thread, and stand as that thread shows them to a model.
    """

    summary: Summary | None = None
    """What stands before the entries. Its seq counts in the ancestor's log."""
    entries: tuple[Entry, ...] = ()
    app_kept: tuple[AppEntry, ...] = ()
    """Of the application's messages that the summary covers, the newest of each role."""
