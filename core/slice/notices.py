"""What an observer of a slice is told beside the model's chunks: for `torpor chat` and in-process streaming."""

from dataclasses import dataclass

from core.entries import ToolCall, ToolResult
from core.thread import ChildKind


@dataclass(frozen=True, slots=True)
class ThreadVisited:
    """What follows, until the next visit, is of this thread. Slices of one observer come one after the other."""

    thread_stack: tuple[str, ...]
    """Ids from the root to the thread."""
    kind: ChildKind | None = None
    """Of a child."""


@dataclass(frozen=True, slots=True)
class ThinkingStarted:
    """Reasoning begins."""


@dataclass(frozen=True, slots=True)
class ThinkingEnded:
    """Reasoning is over; text, a call or the end follows."""


@dataclass(frozen=True, slots=True)
class TurnDiscarded:
    """The attempt failed: what was shown of it is void."""

    reason: str


@dataclass(frozen=True, slots=True)
class TurnPostponed:
    """The last attempt of this slice failed, and is void: a wake makes the next. Told before the commit."""

    reason: str
    seconds: int


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A call is about to run here, or was sent to `worker`."""

    call: ToolCall
    worker: str | None


@dataclass(frozen=True, slots=True)
class CallAnswered:
    """A call has its result: its worker's, an inline one, or why there is none. Told before the commit."""

    result: ToolResult


@dataclass(frozen=True, slots=True)
class RouteTaken:
    """A supervisor has chosen who answers."""

    route: str


class Silent:
    """Observes nothing."""

    def notice(self, event: object) -> None:
        """Ignore it."""


SILENT = Silent()
