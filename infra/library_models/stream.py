"""The library's events as chunks: no network.

Text and deltas pass at once. A reasoning block comes out whole, when another part has begun; from the first call on
everything waits for the end of the stream: nothing half-received leaves here, and the order is kept.
"""

from collections.abc import Iterator
from typing import Any, Final

from pydantic_ai.messages import (
    ModelResponsePart,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.usage import RequestUsage

from core.chunks import (
    ArgumentsDelta,
    CallChunk,
    Chunk,
    Completed,
    ReasoningBlock,
    ReasoningDelta,
    TextChunk,
    Usage,
)
from core.errors import ModelUnavailable
from infra.arguments import arguments_of
from infra.library_models.request import REDACTED

WANTS_TOOLS: Final = "tool_use"
STOP_REASONS: Final = {
    "stop": "end_turn",
    "tool_calls": WANTS_TOOLS,
    "length": "max_tokens",
    "content_filter": "content_filtered",
    "refusal": "content_filtered",
}
"""The providers' words in Torpor's. Others are passed on as they are."""


class LibraryStream:
    """Reads one completion of `model` (`provider:model`), event by event."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._names: dict[int, str] = {}
        """Of calls, by part. From the first on, parts are held."""
        self._ended: dict[int, ModelResponsePart] = {}
        self._given: set[int] = set()

    def read(self, event: object) -> Iterator[Chunk]:
        """The chunks of one event. Unknown ones are none."""
        match event:
            case PartStartEvent(index=index, part=ToolCallPart(tool_name=name, args=args)):
                self._names[index] = name
                if isinstance(args, str) and args:
                    yield ArgumentsDelta(name, args)
            case PartStartEvent(index=index, part=TextPart(content=text)):
                yield from self._text(index, text)
            case PartStartEvent(part=ThinkingPart(content=text)) if text:
                yield ReasoningDelta(text)
            case PartDeltaEvent(index=index, delta=delta):
                yield from self._delta(index, delta)
            case PartEndEvent(index=index, part=part, next_part_kind=following):
                self._ended[index] = part
                if isinstance(part, ThinkingPart) and following is not None and not self._names:
                    yield from self._give(index)

    def end(self, details: dict[str, Any], usage: RequestUsage) -> Iterator[Chunk]:
        """The stream has ended. Raises ModelUnavailable if the model had not: it was cut off."""
        reason = details.get("finish_reason")
        if not isinstance(reason, str):
            raise ModelUnavailable("the stream ended before its end marker")
        reason = STOP_REASONS.get(reason, reason)
        for index in sorted(self._ended.keys() - self._given):
            yield from self._give(index, wants_tools=reason == WANTS_TOOLS)
        if refusal := details.get("refusal"):
            yield TextChunk(str(refusal))
        yield Completed(reason, _usage(usage))

    def _text(self, index: int, text: str) -> Iterator[Chunk]:
        if text and not self._names:
            self._given.add(index)
            yield TextChunk(text)

    def _delta(self, index: int, delta: object) -> Iterator[Chunk]:
        match delta:
            case TextPartDelta(content_delta=text):
                yield from self._text(index, text)
            case ThinkingPartDelta(content_delta=str(text)) if text:
                yield ReasoningDelta(text)
            case ToolCallPartDelta():
                if (part := self._ended.get(index)) is not None:  # calls may be written side by side
                    self._ended[index] = delta.apply(part)
                if isinstance(delta.args_delta, str) and index in self._names:
                    yield ArgumentsDelta(self._names[index], delta.args_delta)

    def _give(self, index: int, *, wants_tools: bool = False) -> Iterator[Chunk]:
        """A whole part, whatever it is. A call without arguments has none only if the model stopped for it."""
        self._given.add(index)
        match self._ended[index]:
            case TextPart(content=text):
                yield TextChunk(text)
            case ThinkingPart(id=mark, signature=redacted) if mark == REDACTED:
                yield ReasoningBlock(redacted=redacted, model=self._model)
            case ThinkingPart(content=text, signature=signature):
                yield ReasoningBlock(text, signature or None, None, self._model)
            case ToolCallPart(tool_name=name, args=args):
                arguments = arguments_of(args or "") if isinstance(args, str | None) else {**args}
                yield CallChunk(name, {} if arguments == "" and wants_tools else arguments)


def _usage(usage: RequestUsage) -> Usage:
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cache_read_tokens,
    )
