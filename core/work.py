"""Worker records: what is remembered of a call so that it runs once at a time and is answered with one result.

Values and port together, apart from the worker that uses them: the dead-letter handler answers calls by them too.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from core.blocks import Content, Value
from core.sources import Source
from core.tools.asking import Answered


class RecordedResult(Value):
    """How a call ended, an error included: the fields of a `tool_result` that are the tool's."""

    content: Content
    is_error: bool = False
    outcome: Literal["timed_out"] | None = None
    """Set for a run over its timeout, which is an error too."""
    subscription: bool = False
    sources: tuple[Source, ...] = ()
    state_patch: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Started:
    """The call is this attempt's to run, until its lease is over."""

    answers: tuple[Answered, ...] = ()
    """What people answered to its questions so far, oldest first."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a run ended with that asked a person."""

    call: str
    """The `tool_call` as JSON, by which the tool is run again."""
    id: str
    """Of the `question` message."""
    body: str
    """The `question` message as JSON, to be sent, and sent again."""
    number: int
    """Of answers that the run had."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A person is asked, and nothing runs meanwhile. `body`: the `question` message as JSON."""

    body: str


@dataclass(frozen=True, slots=True)
class AlreadyRunning:
    """Another attempt may still be running it."""

    until: datetime


@dataclass(frozen=True, slots=True)
class Finished:
    """It has its result; no other will ever stand."""

    result: RecordedResult


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Nobody waits for it any more."""


Begun = Started | AlreadyRunning | Asking | Finished | Cancelled
Asked = AlreadyRunning | Asking | Finished | Cancelled
Ended = Finished | Cancelled


class WorkRecords(Protocol):
    """One record per call, each operation one atomic write. Kept for 60 days: longer than a message can still come.

    `call_id` is what the record is known by, the call's worker included (`Answering.record_of`).

    Every method raises StoreUnavailable when the store does not answer; the write may have taken effect, and asking
    again is right.
    """

    def begin(self, call_id: str, *, attempt: str, lease_until: datetime, now: datetime) -> Begun:
        """Take the call if it is new, or if the lease of whoever had it is over.

        `attempt` names this delivery: the same attempt asking again is Started again, a lost answer costs nothing.
        """
        ...

    def finish(self, call_id: str, result: RecordedResult, *, now: datetime) -> Ended:
        """Record the result if there is none, whoever holds the lease, and return what stands."""
        ...

    def ask(self, call_id: str, question: Question, *, now: datetime) -> Asked:
        """Record that a run ended with a question, and return what stands.

        Another stands if the call has ended, is asking already, or was answered more often than the run knew.
        """
        ...

    def answer(
        self, call_id: str, answered: Answered, *, question_id: str | None, now: datetime
    ) -> str | None:
        """Take the answer to that question, or to whichever is open: the call may be begun again. Idempotent by id.

        Returns the `tool_call` as JSON; None if nobody waits for this answer.
        """
        ...

    def cancel(self, call_id: str, *, now: datetime) -> None:
        """Leave a tombstone, before the call or while it runs. A recorded result stays. Idempotent."""
        ...
