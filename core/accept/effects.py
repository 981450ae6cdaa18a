"""Effects: what an accepted input does, as data. The accept functions return them, the slice carries them out."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.agent import Agent
from core.entries import Entry, Event, Outcome, ToolResult, User
from core.errors import Refused
from core.senders import UNCHECKED, SenderPolicy
from core.sources import Source
from core.state.edits import Edit
from core.thread import Child, Origin, PendingWake, Question, ThreadState
from core.tools import Tool


@dataclass(frozen=True, slots=True)
class Setting:
    """What a decision may depend on beside the input and the thread."""

    agent: Agent
    now: datetime
    agent_names: tuple[str, ...] = ()
    completing: bool = True
    """False in the dead-letter handler: it never interrupts and never calls a model."""
    senders: SenderPolicy = UNCHECKED


@dataclass(frozen=True, slots=True)
class Take:
    """Add the entry to the history; user text interrupts live calls, a result answers its own."""

    entry: User | ToolResult | Event


@dataclass(frozen=True, slots=True)
class Defer:
    """Keep the entry until the last non-passive live call is answered."""

    entry: User | Event


@dataclass(frozen=True, slots=True)
class Begin:
    """The thread's first input: where it comes from, and which agent plays it."""

    origin: Origin


@dataclass(frozen=True, slots=True)
class Open:
    """A child begins: with these entries, this credit, and owing its parent an answer."""

    credit: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class NewUserInput:
    """Text came that deserves new tries: turns, sources and tries start anew. `credit`: a root's is renewed to this."""

    credit: int | None = None


@dataclass(frozen=True, slots=True)
class AddSources:
    """Sources of a result, for the citations of the answer."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class EditState:
    """A result's patch of the thread's state, checked against the agent's state type."""

    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class OpenSubscription:
    """The answered call goes on as a subscription, whose worker is told when it is ended."""

    call_id: str
    worker: str | None = None


@dataclass(frozen=True, slots=True)
class CloseSubscription:
    """No more events come for this call."""

    call_id: str


@dataclass(frozen=True, slots=True)
class SpawnForEvent:
    """A short-lived child deals with the event, whatever this thread is doing."""

    event: Event
    credit: int


@dataclass(frozen=True, slots=True)
class EndChild:
    """A child told its end. `credit`: this thread's, with what the child gives back."""

    child: Child
    credit: int


@dataclass(frozen=True, slots=True)
class Stop:
    """Answer live calls as interrupted; nothing is owed any more."""


@dataclass(frozen=True, slots=True)
class Shut:
    """Stop, and take nothing any more. `report` is what the parent of a child is told; None: nothing."""

    report: str | None = None


@dataclass(frozen=True, slots=True)
class TimeOut:
    """Answer these live calls as timed out, with a text that says what they waited for."""

    call_ids: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Ask:
    """A person is asked about a live call."""

    call_id: str
    question: Question


@dataclass(frozen=True, slots=True)
class Approve:
    """The call may be run, with these arguments if they were edited. `deadline_at`: of a worker's call."""

    call_id: str
    tool: Tool
    args: dict[str, Any] | None
    deadline_at: datetime


@dataclass(frozen=True, slots=True)
class Deny:
    """The call is answered without being run."""

    call_id: str
    text: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class TellWorker:
    """A choice was made, by a person or, expired, by default: its worker is told, and the call stays live."""

    call_id: str
    choice: str
    comment: str
    expired: bool = False


@dataclass(frozen=True, slots=True)
class StartCompaction:
    """A compaction was asked for."""


@dataclass(frozen=True, slots=True)
class EndCompaction:
    """The compaction is over, with a summary or without. `overdue`: it is told that nobody waits any more."""

    child: Child
    text: str | None
    overdue: bool = False


@dataclass(frozen=True, slots=True)
class TakeWake:
    """The awaited wake came: wait for none."""


@dataclass(frozen=True, slots=True)
class RearmWake:
    """The awaited wake came early: wait for another, for the same instant."""

    wake: PendingWake


@dataclass(frozen=True, slots=True)
class TakeTimer:
    """The awaited timer came: wait for it no more. What is due later arms the next by itself."""


@dataclass(frozen=True, slots=True)
class EndSleep:
    """The sleep of this passive call is over."""

    call_id: str


TakingIn = Take | Defer | Begin | Open | NewUserInput | AddSources | EditState
"""Effects on the history and what belongs to it."""
OfCalls = TimeOut | EndSleep | Ask | Approve | Deny | TellWorker | OpenSubscription | CloseSubscription
"""Effects on live calls, and what outlives them."""
OfTree = SpawnForEvent | EndChild | StartCompaction | EndCompaction
"""Effects on children."""
OfTime = Stop | Shut | TakeWake | RearmWake | TakeTimer
"""Effects on whether, and when, the thread goes on."""
Effect = TakingIn | OfCalls | OfTree | OfTime


def require_open(state: ThreadState) -> None:
    """Raises Refused (`closed`) for a closed thread."""
    if state.closed:
        raise Refused("closed", "this thread is closed: start another")


def require_known(state: ThreadState) -> None:
    """Raises Refused (`unknown_thread`) for a thread without history."""
    if not state.exists:
        raise Refused("unknown_thread", "there is no such thread")
