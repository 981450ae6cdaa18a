"""Entries: the items of a thread's committed history, one class per `kind` (contract.md, "Entries").

An entry is made without `seq` (0); the history numbers it when it is accepted, and it never changes afterwards
(invariant *append-only*).
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, TypeAdapter

from core.blocks import Content, Value
from core.text import in_key_order

Outcome = Literal["ok", "error", "interrupted", "timed_out", "refused", "limit"]
EndReason = Literal["empty", "failed", "cancelled", "limit"]


Arguments = Annotated[dict[str, Any], AfterValidator(in_key_order)]
"""Of a call: an object, its keys in order."""


class _Entry(Value):
    seq: int = 0
    at: datetime | None = None
    """When the thread accepted it; None until then."""
    message_id: str | None = None
    """The input that caused it."""


class User(_Entry):
    """Text from a person or a program that plays one."""

    kind: Literal["user"] = "user"
    content: Content
    metadata: dict[str, Any] | None = None


class Assistant(_Entry):
    """Text of a model."""

    kind: Literal["assistant"] = "assistant"
    text: str


class Reasoning(_Entry):
    """A reasoning block, bound to the model that made it by `signature` or `redacted` (base64)."""

    kind: Literal["reasoning"] = "reasoning"
    text: str = ""
    signature: str | None = None
    redacted: str | None = None
    model: str = ""


class ToolCall(_Entry):
    """A tool call. *Live* while it has no result entry."""

    kind: Literal["tool_call"] = "tool_call"
    call_id: str
    name: str
    args: Arguments = {}
    raw_args: str | None = None
    """What the model sent, if that was not an object."""


class ToolResult(_Entry):
    """The one answer of a call."""

    kind: Literal["tool_result"] = "tool_result"
    call_id: str
    content: Content
    outcome: Outcome = "ok"


class Event(_Entry):
    """An event of a subscription, or a child's report, for the call that opened it."""

    kind: Literal["event"] = "event"
    call_id: str
    name: str
    args: Arguments = {}
    child_thread_id: str | None = None
    content: Content


class TurnEnd(_Entry):
    """A turn that ended without an answer. Never shown to a model."""

    kind: Literal["turn_end"] = "turn_end"
    reason: EndReason


class AppEntry(_Entry):
    """An application's own message. Never shown to a model."""

    kind: Literal["app"] = "app"
    role: str
    content: Content


Entry = Annotated[
    User | Assistant | Reasoning | ToolCall | ToolResult | Event | TurnEnd | AppEntry,
    Field(discriminator="kind"),
]

ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)


def entry_dict(entry: Entry) -> dict[str, Any]:
    """An entry as users and clients read it: plain JSON, absent fields left out."""
    return entry.to_json()
