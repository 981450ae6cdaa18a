"""The outbox: what a commit promises to send. Kinds refer to entries of their own commit and hold due instants.

`core/delivery.py` turns them into ready-to-send envelopes when a commit is settled, always the same ones.
"""

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from core.blocks import Value
from core.chunks import Usage
from core.entries import Event
from core.errors import ErrorCode
from core.sources import Source
from core.thread import Ancestor, ChildKind, Question, QuestionKind

LONGEST_DELAY = timedelta(seconds=900)
"""What a queue can delay a message for. A timer that is due later is a schedule."""


class SendCall(Value):
    """A live call for its worker. Name and arguments stand in the call's entry, unless they are given here: those of
    a call of an earlier commit that a person approved.
    """

    kind: Literal["tool_call"] = "tool_call"
    call_id: str
    worker: str
    deadline_at: datetime
    name: str | None = None
    args: dict[str, Any] | None = None


class SendCancel(Value):
    """Best effort: tells a worker that nobody waits for this call any more."""

    kind: Literal["tool_cancel"] = "tool_cancel"
    call_id: str
    worker: str


QuestionOutcome = Literal["answered", "interrupted", "expired"]


class SendToolAnswer(Value):
    """A person's choice, for the worker that asked. `question`: the id of the message it asked by."""

    kind: Literal["tool_answer"] = "tool_answer"
    call_id: str
    worker: str
    question: str
    choice: str
    comment: str = ""


class SendQuestion(Value):
    """A `question` output. `name` is the call's. The arguments to approve stand in the call's entry."""

    kind: Literal["question"] = "question"
    call_id: str
    name: str
    question: Question


class SendQuestionClosed(Value):
    """A `question_closed` output."""

    kind: Literal["question_closed"] = "question_closed"
    call_id: str
    question_kind: QuestionKind
    outcome: QuestionOutcome


class SendCompacted(Value):
    """A `compacted` output."""

    kind: Literal["compacted"] = "compacted"
    up_to_seq: int


class SendCompactionDone(Value):
    """A `compaction_done` for the parent. `text` None: there is no summary."""

    kind: Literal["compaction_done"] = "compaction_done"
    parent: str
    text: str | None = None


class SendUnschedule(Value):
    """Takes back a timer that is no longer waited for, if it is scheduled. Best effort: a stale one does nothing."""

    kind: Literal["unschedule"] = "unschedule"
    timer_id: str


class SendAnswer(Value):
    """An `assistant_message`: the text entries of this commit from `first_seq` to `last_seq`."""

    kind: Literal["assistant_message"] = "assistant_message"
    first_seq: int
    last_seq: int
    final: bool
    usage: Usage
    stop_reason: str
    citations: tuple[Source, ...] = ()
    route: str | None = None
    """Of a supervised thread: who spoke."""
    routing: Usage | None = None
    """What it took to find that out, told by the first answer after it."""


class SendStarted(Value):
    """A `tool_started` output. Name and arguments are those of the call's entry, else of its `SendCall`."""

    kind: Literal["tool_started"] = "tool_started"
    call_id: str


class SendError(Value):
    """An `error` output that belongs to a commit."""

    kind: Literal["error"] = "error"
    code: ErrorCode
    message: str
    message_id: str | None = None
    retryable: bool = False


class SendWake(Value):
    """A `wake` for this thread, at once or when due."""

    kind: Literal["wake"] = "wake"
    due_at: datetime | None = None


class SendTimer(Value):
    """A deadline `timer` for this thread."""

    kind: Literal["timer"] = "timer"
    due_at: datetime


class SendSpawn(Value):
    """A `spawn`: makes the child exist. Instructions stand in the arguments of the call, an event stands here."""

    kind: Literal["spawn"] = "spawn"
    thread_id: str
    call_id: str
    child_kind: ChildKind
    agent: str | None = None
    credit: int
    lineage: tuple[Ancestor, ...] = ()
    event: Event | None = None


class SendParentMessage(Value):
    """A `parent_message` for an open child. Its text stands in the arguments of the call."""

    kind: Literal["parent_message"] = "parent_message"
    thread_id: str
    call_id: str


class SendClose(Value):
    """A `close` for an open child."""

    kind: Literal["close"] = "close"
    thread_id: str


class SendReport(Value):
    """A `thread_report` for the parent. The last one, `closing`, may be silent, and gives back what credit is left."""

    kind: Literal["thread_report"] = "thread_report"
    parent: str
    call_id: str
    text: str | None = None
    closing: bool = False
    credit: int = 0


class SendSpawned(Value):
    """A `thread_spawned` output."""

    kind: Literal["thread_spawned"] = "thread_spawned"
    child_thread_id: str
    call_id: str


class SendThreadClosed(Value):
    """A `thread_closed` output."""

    kind: Literal["thread_closed"] = "thread_closed"
    child_thread_id: str
    call_id: str


class Carried(Value):
    """A message of an earlier commit that could not be sent, in full, under its old id."""

    kind: Literal["carried"] = "carried"
    id: str
    queue: str
    group: str | None = None
    body: str
    due_at: datetime | None = None
    call_id: str | None = None
    correlation_id: str | None = None


OutboxMessage = Annotated[
    SendCall
    | SendCancel
    | SendToolAnswer
    | SendQuestion
    | SendQuestionClosed
    | SendCompacted
    | SendCompactionDone
    | SendUnschedule
    | SendAnswer
    | SendStarted
    | SendError
    | SendWake
    | SendTimer
    | SendSpawn
    | SendParentMessage
    | SendClose
    | SendReport
    | SendSpawned
    | SendThreadClosed
    | Carried,
    Field(discriminator="kind"),
]
OUTPUT_KINDS = (
    SendAnswer,
    SendStarted,
    SendError,
    SendSpawned,
    SendThreadClosed,
    SendQuestion,
    SendQuestionClosed,
    SendCompacted,
)
