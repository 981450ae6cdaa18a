"""Wire messages on the input queue, one class per `type` (contract.md, "Messages in"), and how a body becomes one.

`core/parsing.py` turns an untrusted body into one of them.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    model_validator,
)

from core.blocks import WireContent
from core.entries import Event, ToolCall, ToolResult, User
from core.ids import THREAD_IDS, digest, is_child, is_thread_id, root_of
from core.sources import Source
from core.thread import Ancestor, ChildKind

COMMON_FIELDS = frozenset({"v", "type", "thread_id", "message_id", "metadata"})
MARKED_TYPES = frozenset(
    {
        "user_message",
        "cancel",
        "close",
        "subscription_event",
        "thread_report",
        "parent_message",
        "question",
        "answer",
        "compact",
    }
)
"""Types whose consumption leaves a marker."""
CHILD_END = "thread_end"
"""What a closing `thread_report` is remembered as, apart from those that come before it."""
TOLD_BY_THE_FOLD = frozenset({"tool_result", "wake", "timer", "spawn", "compaction_done", CHILD_END})
"""Types that are no duplicates by their id: a live call, a pending wake or timer, an open child, the thread's own
existence says whether they mean anything."""


def _known_as_thread_id(value: str) -> str:
    if not is_thread_id(value):
        raise ValueError(THREAD_IDS)
    return value


ThreadId = Annotated[str, AfterValidator(_known_as_thread_id)]


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    v: Literal[1] = 1
    thread_id: ThreadId
    message_id: str | None = Field(default=None, min_length=1, max_length=128)
    metadata: dict[str, Any] | None = None


class UserMessage(_Message):
    type: Literal["user_message"]
    content: WireContent
    on_busy: Literal["interrupt", "queue"] | None = None
    agent: str | None = Field(default=None, max_length=64)


class ToolResultMessage(_Message):
    type: Literal["tool_result"]
    call_id: str = Field(min_length=1, max_length=64)
    content: WireContent
    is_error: bool = False
    outcome: Literal["timed_out"] | None = None
    """How the call ended, where `is_error` does not say it all: a worker tells a run over its timeout."""
    subscription: bool = False
    sources: tuple[Source, ...] = ()
    state_patch: dict[str, Any] | None = None


class SubscriptionEvent(_Message):
    """Something happened that the subscription of a call waits for."""

    type: Literal["subscription_event"]
    call_id: str = Field(min_length=1, max_length=64)
    event_id: str | None = Field(default=None, min_length=1, max_length=128)
    content: WireContent
    associative: bool = False
    final: bool = False


class Cancel(_Message):
    type: Literal["cancel"]


class Close(_Message):
    type: Literal["close"]
    closed_by: ThreadId | None = None
    """The parent that closes its child, and so need not be told."""


class _OfAChild(_Message):
    parent: ThreadId | None = None
    """Of the thread that this is for, where that is a child: who hears of its end if it can take this in no more."""


class Wake(_OfAChild):
    """Internal: adds nothing, lets a thread that owes go on."""

    type: Literal["wake"]
    due_at: AwareDatetime | None = None


class Timer(_OfAChild):
    """Internal: the earliest deadline of the thread's live calls has come."""

    type: Literal["timer"]
    due_at: AwareDatetime


class QuestionMessage(_Message):
    """A running tool asks a person; its call stays live."""

    type: Literal["question"]
    call_id: str = Field(min_length=1, max_length=64)
    kind: Literal["choice", "auth"]
    prompt: str = ""
    choices: tuple[str, ...] = ()
    default: str | None = None
    url: str = ""
    expires_in_seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)


class Answer(_Message):
    """A person answers a question."""

    type: Literal["answer"]
    call_id: str = Field(min_length=1, max_length=64)
    approved: bool | None = None
    choice: str | None = Field(default=None, max_length=1_000)
    comment: str = Field(default="", max_length=10_000)
    args: dict[str, Any] | None = None


class Compact(_Message):
    """Asks for a compaction."""

    type: Literal["compact"]


class CompactionDone(_Message):
    """Internal: a compaction child brings its summary, or none."""

    type: Literal["compaction_done"]
    child_thread_id: ThreadId
    text: str | None = None


class Spawn(_Message):
    """Internal: makes a child thread exist."""

    type: Literal["spawn"]
    call_id: str = Field(min_length=1, max_length=64)
    child_kind: ChildKind
    agent: str | None = None
    ancestors: tuple[ThreadId, ...] = Field(min_length=1)
    """From the root to the parent."""
    lineage: tuple[Ancestor, ...] = ()
    opening: tuple[Annotated[User | ToolCall | ToolResult | Event, Field(discriminator="kind")], ...] = ()
    """The child's first entries."""
    credit: int
    spawned_at: AwareDatetime

    @model_validator(mode="after")
    def _in_one_tree(self) -> "Spawn":
        roots = {root_of(thread_id) for thread_id in (self.thread_id, *self.ancestors)}
        if len(roots) > 1 or not is_child(self.thread_id):
            raise ValueError("a child's id begins with its root's")
        return self


class ThreadReport(_OfAChild):
    """Internal: a child tells its parent something, or its end."""

    type: Literal["thread_report"]
    child_thread_id: ThreadId
    call_id: str = Field(min_length=1, max_length=64)
    text: str | None = None
    closing: bool = False
    credit: int = 0


class ParentMessage(_Message):
    """Internal: a parent tells an open child something."""

    type: Literal["parent_message"]
    parent: ThreadId
    call_id: str = Field(min_length=1, max_length=64)
    text: str


Message = Annotated[
    UserMessage
    | ToolResultMessage
    | SubscriptionEvent
    | Cancel
    | Close
    | Wake
    | Timer
    | Spawn
    | ThreadReport
    | ParentMessage
    | QuestionMessage
    | Answer
    | Compact
    | CompactionDone,
    Field(discriminator="type"),
]


@dataclass(frozen=True, slots=True)
class InputKey:
    """What deduplication goes by, inside a thread."""

    type: str
    message_id: str


@dataclass(frozen=True, slots=True)
class Input:
    """One accepted-to-be message with what the transport said about it."""

    message: Message
    message_id: str
    """The message's own id, else the SQS message id."""
    body_digest: str
    """Over the type's own fields, so that the same id with another body is seen."""
    sender: str | None = None
    """SQS `SenderId` of whoever sent it; None where the transport names nobody."""
    body: str = ""
    """As it came, for people, should it be refused."""
    sent_at: datetime | None = None
    correlation_id: str | None = None
    """As it travelled beside the message. Anybody may set it."""

    @property
    def key(self) -> InputKey:
        match self.message:
            case SubscriptionEvent(call_id=call_id, event_id=str(event_id)):
                return InputKey("subscription_event", digest(call_id, event_id))
            case ThreadReport(closing=True):
                return InputKey(CHILD_END, self.message_id)
            case message:
                return InputKey(message.type, self.message_id)


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a queue knows about a body: the SQS message id, the group, the sender, the first sending, and what it goes
    back to.
    """

    transport_id: str
    group: str | None
    sender: str | None = None
    sent_at: datetime | None = None
    correlation_id: str | None = None
