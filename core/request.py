"""A model request, provider-neutral: what the renderer makes, the strict check reads and a model adapter translates."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Literal

from core.blocks import DocumentBlock, ImageBlock, TextBlock

Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class JsonObject:
    """A JSON object as result content. Providers take only objects, so other values are rendered as text."""

    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    text: str = ""
    signature: str | None = None
    redacted: str | None = None


@dataclass(frozen=True, slots=True)
class CallPart:
    call_id: str
    name: str
    args: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ResultPart:
    call_id: str
    name: str
    content: tuple["ResultContent", ...]
    is_error: bool = False


ResultContent = TextBlock | ImageBlock | DocumentBlock | JsonObject
Part = TextBlock | ImageBlock | DocumentBlock | ReasoningPart | CallPart | ResultPart


@dataclass(frozen=True, slots=True)
class RequestMessage:
    role: Role
    parts: tuple[Part, ...]


def joined(messages: Sequence[RequestMessage]) -> tuple[RequestMessage, ...]:
    """The messages with neighbours of one role as one, results first: roles alternate (*well-formed*)."""
    runs = (list(run) for _, run in groupby(messages, key=lambda message: message.role))
    return tuple(run[0] if len(run) == 1 else _one(run) for run in runs)


def _one(run: Sequence[RequestMessage]) -> RequestMessage:
    parts = [part for message in run for part in message.parts]
    results = [part for part in parts if isinstance(part, ResultPart)]
    return replace(run[0], parts=(*results, *(part for part in parts if not isinstance(part, ResultPart))))


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it. `schema` is a JSON Schema of type object."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RequestContext:
    """What a scripted model or an observer may know of a request beside its messages."""

    thread_stack: tuple[str, ...] = ()
    compaction: bool = False
    routing: bool = False
    """A supervisor asks who is to answer."""
    attempt: int = 1
    """1 for the first try of this completion, counted over slices."""

    @property
    def depth(self) -> int:
        return max(0, len(self.thread_stack) - 1)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    model: str
    """`provider:model`."""
    messages: tuple[RequestMessage, ...]
    instructions: str = ""
    tools: tuple[ToolSpec, ...] = ()
    max_output_tokens: int = 4096
    temperature: float | None = None
    reasoning_tokens: int | None = None
    """As `Settings.reasoning_tokens`. None: the model is not asked to reason."""
    guardrail: str | None = None
    """As `Settings.guardrail`."""
    context: RequestContext = field(default_factory=RequestContext)
