"""What a scripted model sees of a request: the few facts that its rules and placeholders speak of."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from core.blocks import DocumentBlock, ImageBlock, TextBlock
from core.request import (
    CallPart,
    JsonObject,
    ModelRequest,
    Part,
    ReasoningPart,
    RequestContext,
    RequestMessage,
    ResultPart,
)
from core.tools.names import EVENT_TOOL_NAME


@dataclass(frozen=True, slots=True)
class SeenResult:
    name: str
    """The tool's."""
    text: str


@dataclass(frozen=True, slots=True)
class SeenEvent:
    text: str
    origin: str
    """The arguments of the injected call as JSON: they name the call that the event belongs to."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A request's facts."""

    user: str
    """The last user text, wherever it stands."""
    ends_with_user: bool
    """Whether that text is in the last message, after its results if it has any."""
    results: tuple[SeenResult, ...]
    """Of the last message, in call order."""
    event: SeenEvent | None
    """The event the conversation ends with."""
    text: str
    """Everything said, called and answered, one part a line."""
    turns: int
    context: RequestContext

    @property
    def result(self) -> str:
        """The results of the last message, one a line."""
        return "\n".join(result.text for result in self.results)


def conversation_of(request: ModelRequest) -> Conversation:
    """The facts of a request that passed the strict check."""
    last = request.messages[-1]
    ends_with_user = any(isinstance(part, TextBlock) for part in last.parts)
    return Conversation(
        user=_last_user_text(request.messages),
        ends_with_user=ends_with_user,
        results=tuple(
            SeenResult(part.name, _text_of(part)) for part in last.parts if isinstance(part, ResultPart)
        ),
        event=_event(request.messages),
        text="\n".join(_text_of(part) for message in request.messages for part in message.parts),
        turns=sum(map(_is_turn, request.messages)),
        context=request.context,
    )


def _last_user_text(messages: tuple[RequestMessage, ...]) -> str:
    for message in reversed(messages):
        if message.role == "user":
            for part in reversed(message.parts):
                if isinstance(part, TextBlock):
                    return part.text
    return ""


def _event(messages: tuple[RequestMessage, ...]) -> SeenEvent | None:
    """The injected event that nothing comes after."""
    result = messages[-1].parts[-1]
    if not isinstance(result, ResultPart) or result.name != EVENT_TOOL_NAME:
        return None
    origin = next(
        json.dumps(part.args, ensure_ascii=False)
        for part in messages[-2].parts
        if isinstance(part, CallPart) and part.call_id == result.call_id
    )
    return SeenEvent(_text_of(result), origin)


def _is_turn(message: RequestMessage) -> bool:
    """Whether a model had a part in the message: one of injected calls alone is none of its turns."""
    return message.role == "assistant" and not all(
        isinstance(part, CallPart) and part.name == EVENT_TOOL_NAME for part in message.parts
    )


def _text_of(part: Part) -> str:
    match part:
        case ResultPart():
            return "\n".join(_content_texts(part))
        case TextBlock() | ReasoningPart():
            return part.text
        case CallPart():
            return f"{part.name} {json.dumps(part.args, ensure_ascii=False)}"
        case DocumentBlock():
            return part.name
        case ImageBlock():
            return ""
        case _:
            assert_never(part)


def _content_texts(result: ResultPart) -> Iterator[str]:
    for content in result.content:
        match content:
            case TextBlock():
                yield content.text
            case JsonObject():
                yield json.dumps(content.data, ensure_ascii=False)
            case DocumentBlock():
                yield content.name
            case ImageBlock():
                pass
            case _:
                assert_never(content)
