"""Effects: what an accepted input does, as data. The accept functions return them, the slice carries them out."""

from dataclasses import dataclass
from datetime import datetime

from core.agent import Agent
from core.entries import Event, ToolResult, User
from core.errors import ErrorCode, Refused
from core.senders import UNCHECKED, SenderPolicy
from core.sources import Source
from core.thread import PendingWake, ThreadState


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
    """The thread's first input: which agent plays it (None: the app's default)."""

    agent: str | None


@dataclass(frozen=True, slots=True)
class NewUserInput:
    """User text came: turns, sources and tries start anew, the tree's credit is renewed."""

    credit: int


@dataclass(frozen=True, slots=True)
class AddSources:
    """Sources of a result, for the citations of the answer."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class OpenSubscription:
    """The answered call goes on as a subscription."""

    call_id: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Answer live calls as interrupted; nothing is owed any more."""


@dataclass(frozen=True, slots=True)
class Shut:
    """Stop, and take nothing any more."""


@dataclass(frozen=True, slots=True)
class TimeOut:
    """Answer these live calls as timed out."""

    call_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TakeWake:
    """The awaited wake came: wait for none."""


@dataclass(frozen=True, slots=True)
class RearmWake:
    """The awaited wake came early: wait for another, for the same instant."""

    wake: PendingWake


@dataclass(frozen=True, slots=True)
class ArmTimer:
    """Wait for a deadline timer at this instant; None: for none."""

    due_at: datetime | None


@dataclass(frozen=True, slots=True)
class Tell:
    """An error output that leaves with the commit."""

    code: ErrorCode
    message: str


Effect = (
    Take
    | Defer
    | Begin
    | NewUserInput
    | AddSources
    | OpenSubscription
    | Stop
    | Shut
    | TimeOut
    | TakeWake
    | RearmWake
    | ArmTimer
    | Tell
)


def require_open(state: ThreadState) -> None:
    """Raises Refused (`closed`) for a closed thread."""
    if state.closed:
        raise Refused("closed", "this thread is closed: start another")


def require_known(state: ThreadState) -> None:
    """Raises Refused (`unknown_thread`) for a thread without history."""
    if not state.exists:
        raise Refused("unknown_thread", "there is no such thread")
