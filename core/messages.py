"""Wire messages on the input queue, one class per `type` (contract.md, "Messages in"), and how a body becomes one.

`parse_input` is the only way in: it turns an untrusted body into an `Input`, or raises `Refused` naming the field.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from core.blocks import WireContent
from core.errors import Refused
from core.ids import digest, is_thread_id
from core.sources import Source
from core.text import clean_json, is_deeper_than, shorten, wire_json

COMMON_FIELDS = frozenset({"v", "type", "thread_id", "message_id", "metadata"})
MARKED_TYPES = frozenset({"user_message", "cancel", "close"})
"""Types whose consumption leaves a marker."""
TOLD_BY_THE_FOLD = frozenset({"tool_result", "wake", "timer"})
"""Types that are no duplicates by their id: a live call, a pending wake or timer says whether they mean anything."""

MAX_BODY_DEPTH = 150
"""Nesting of a body: what a tool may return (100 levels), and room for what stands around it."""

BLANK_NOTE = "(blank message)"


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

_MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)


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


def parse_input(body: str, envelope: Envelope) -> Input:
    """The input in `body`. Raises Refused (`invalid`) with a reason that names the field, never its content."""
    message = _parse(_object(body))
    if envelope.group is not None and envelope.group != message.thread_id:
        raise Refused("invalid", "thread_id: must equal the MessageGroupId")
    own = message.model_dump(mode="json", exclude=set(COMMON_FIELDS))
    return Input(
        message=message,
        message_id=message.message_id or envelope.transport_id,
        body_digest=digest(own),
        sender=envelope.sender,
        body=body,
        sent_at=envelope.sent_at,
    )


def thread_of(body: str) -> tuple[str | None, str | None]:
    """The thread id and message id that a refused body names, each None unless it is usable."""
    try:
        value = _object(body)
    except Refused:
        return None, None
    thread_id, message_id = value.get("thread_id"), value.get("message_id")
    usable = isinstance(thread_id, str) and is_thread_id(thread_id)
    named = isinstance(message_id, str) and 1 <= len(message_id) <= 128
    return (thread_id if usable else None), (message_id if named else None)


def _object(body: str) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused("invalid", f"body: not JSON ({shorten(str(error), 80)})") from error
    if not isinstance(value, dict):
        raise Refused("invalid", "body: must be a JSON object")
    if is_deeper_than(value, MAX_BODY_DEPTH):
        raise Refused("invalid", f"body: nested deeper than {MAX_BODY_DEPTH} levels")
    cleaned: dict[str, Any] = clean_json(value)
    if cleaned.get("message_id") != value.get("message_id"):
        raise Refused(
            "invalid", "message_id: has control characters or what is no character: two ids could become one"
        )
    return cleaned


def _parse(value: dict[str, Any]) -> Message:
    """Strictly: `"yes"` is no bool. As JSON, whose lists are the tuples here."""
    if "content" in value:
        value = {**value, "content": _blocks(value["content"], value.get("type"))}
    try:
        return _MESSAGE.validate_json(wire_json(value), strict=True)
    except ValidationError as error:
        raise refusal_of(error) from None


def _blocks(content: Any, kind: Any) -> list[Any]:
    """A string is one text block, a list of blocks stays; of a result or event, any other JSON value is a JSON block.

    Blank text is left out; what then is empty gets a note: no model may see a blank block.
    """
    match content:
        case str():
            blocks: list[Any] = [{"type": "text", "text": content}]
        case list():
            blocks = content
        case _ if kind in ("tool_result", "subscription_event"):
            blocks = [{"type": "json", "data": content}]
        case _:
            raise Refused("invalid", "content: must be a string or a list of blocks")
    return [block for block in blocks if not _is_blank(block)] or [{"type": "text", "text": BLANK_NOTE}]


def _is_blank(block: Any) -> bool:
    text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None
    return isinstance(text, str) and not text.strip()


def refusal_of(error: ValidationError) -> Refused:
    """The refusal (`invalid`) of a body that is no message: names the first wrong field, and never quotes it."""
    first = error.errors(include_url=False, include_input=False)[0]
    whole = "type" if first["type"].startswith("union_tag") else "body"
    where = ".".join(str(part) for part in first["loc"][1:]) or whole
    return Refused("invalid", f"{where}: {shorten(_what(first), 200)}")


def _what(fault: Any) -> str:
    """Pydantic's words, but for those that quote the body."""
    if fault["type"] == "union_tag_invalid":
        return f"must be one of {fault['ctx']['expected_tags']}"
    return str(fault["msg"]).removeprefix("Value error, ")
