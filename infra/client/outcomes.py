"""What waiting for an answer comes to, and what a thread may be waiting for itself: values only.

`kind` tells them apart, in Python by `match` and in JSON (`to_json`).
"""

from datetime import datetime
from typing import Any, Literal

from core.blocks import Value
from core.chunks import Usage
from core.entries import EndReason
from core.errors import ErrorCode
from core.sources import Source
from core.thread import ChildKind, QuestionKind


class AwaitedAnswer(Value):
    """A person is asked about a call, by an `answer` message to its thread. Nothing goes on before."""

    kind: Literal["question"] = "question"
    call_id: str
    name: str
    question: QuestionKind
    asked_by: str = ""
    """Id of the message that a running tool asked by: another one, another question. Of an approval: nothing."""
    prompt: str = ""
    """Of a choice: what to choose. Of an authorisation: where, as a URL."""
    choices: tuple[str, ...] = ()
    default: str | None = None
    args: dict[str, Any] | None = None
    """Of an approval: the arguments to approve."""
    expires_at: datetime


class AwaitedCall(Value):
    """A call that a worker has, or that a slice has yet to run (`worker` None)."""

    kind: Literal["call"] = "call"
    call_id: str
    name: str
    worker: str | None = None
    deadline_at: datetime | None = None


class AwaitedTime(Value):
    """The thread sleeps. `until` None: until an event, a report or more input comes."""

    kind: Literal["time"] = "time"
    call_id: str
    name: str
    until: datetime | None = None


class AwaitedChild(Value):
    """An open child thread. Of a compaction: its summary."""

    kind: Literal["child"] = "child"
    thread_id: str
    call_id: str
    child: ChildKind


class AwaitedEvent(Value):
    """An open subscription: an event may come."""

    kind: Literal["event"] = "event"
    call_id: str
    name: str


class AwaitedModel(Value):
    """A completion is due or under way; `due_at`: a failed one is tried again then, after so many `tries`."""

    kind: Literal["model"] = "model"
    due_at: datetime | None = None
    tries: int = 0


Awaited = AwaitedAnswer | AwaitedCall | AwaitedTime | AwaitedChild | AwaitedEvent | AwaitedModel


class _OfMessage(Value):
    thread_id: str
    message_id: str


class Answered(_OfMessage):
    """The final answer."""

    kind: Literal["answered"] = "answered"
    text: str
    seq: int
    """Of the last entry it reflects."""
    at: datetime
    route: str | None = None
    """Of a supervised thread: who spoke."""
    citations: tuple[Source, ...] = ()
    usage: Usage
    """Of the completion that gave it."""
    stop_reason: str
    newest_message_id: str
    """Of the newest user message that it answers: another one, where several came together or one interrupted this."""


class Ended(_OfMessage):
    """The turn ended without an answer: it failed, met a limit, was cancelled, or the thread was closed. Or the thread
    was erased, its answer with it.
    """

    kind: Literal["ended"] = "ended"
    reason: EndReason | Literal["closed", "erased"]
    seq: int
    code: ErrorCode | None = None
    """Of the error that was told, if one was."""
    message: str = ""
    retryable: bool = False


class NotAccepted(_OfMessage):
    """The message was refused: nothing of it is in the thread."""

    kind: Literal["refused"] = "refused"
    code: str
    """As in `error` outputs: `invalid`, `conflict`, `closed`, `unknown_thread`, `forbidden`, `busy` …"""
    reason: str


class Waiting(_OfMessage):
    """Taken in, and not answered yet. `awaits`: what the thread waits for, questions first."""

    kind: Literal["waiting"] = "waiting"
    seq: int
    """The thread's last entry."""
    awaits: tuple[Awaited, ...] = ()


class Queued(_OfMessage):
    """No commit of the thread has it: still on its way, never sent, or consumed more than 60 days ago."""

    kind: Literal["queued"] = "queued"


Outcome = Answered | Ended | NotAccepted | Waiting | Queued
