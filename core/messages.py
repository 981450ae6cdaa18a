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
)

from core.blocks import WireContent
from core.ids import is_thread_id
from core.sources import Source

COMMON_FIELDS = frozenset({"v", "type", "thread_id", "message_id", "metadata"})
MARKED_TYPES = frozenset({"user_message", "cancel", "close"})
"""Types whose consumption leaves a marker."""
TOLD_BY_THE_FOLD = frozenset({"tool_result", "wake", "timer"})
"""Types that are no duplicates by their id: a live call, a pending wake or timer says whether they mean anything."""


def _known_as_thread_id(value: str) -> str:
    if not is_thread_id(value):
        raise ValueError("1-100 of A-Za-z0-9_.:- (a child's adds ~ and at most 27 more)")
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


class Wake(_Message):
    """Internal: adds nothing, lets a thread that owes go on."""

    type: Literal["wake"]
    due_at: AwareDatetime | None = None


class Timer(_Message):
    """Internal: the earliest deadline of the thread's live calls has come."""

    type: Literal["timer"]
    due_at: AwareDatetime


Message = Annotated[
    UserMessage | ToolResultMessage | SubscriptionEvent | Cancel | Close | Wake | Timer,
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

    @property
    def key(self) -> InputKey:
        return InputKey(self.message.type, self.message_id)


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a queue knows about a body: the SQS message id, the group, the sender, the first sending."""

    transport_id: str
    group: str | None
    sender: str | None = None
    sent_at: datetime | None = None
