"""The Anthropic Messages API: content is a string or blocks, all results of a turn stand in one user message."""

import base64
import json
from collections.abc import Sequence
from typing import Any, assert_never

from core.blocks import DocumentBlock, ImageBlock, TextBlock
from core.request import CallPart, JsonObject, Part, ReasoningPart, RequestMessage, ResultContent, ResultPart
from core.state.exports.media import PDF, inline, note, text_of
from core.state.exports.pairing import well_formed
from core.tools.content import plain_json

Block = dict[str, Any]


def anthropic_messages(messages: Sequence[RequestMessage], opening: str = "") -> list[dict[str, Any]]:
    """As the `messages` of a request. `opening` is what the user said, should the assistant begin."""
    made = [
        {"role": message.role, "content": _content([_block(part) for part in message.parts])}
        for message in well_formed(messages, opening)
    ]
    if made and made[-1]["role"] == "assistant":
        made[-1]["content"] = _without_trailing_space(made[-1]["content"])
    return made


def _content(blocks: list[Block]) -> str | list[Block]:
    """One text alone goes as a string."""
    match blocks:
        case [{"type": "text", "text": str(text)}]:
            return text
        case _:
            return blocks


def _without_trailing_space(content: Any) -> Any:
    """The last answer may not end in white space: it is taken as the beginning of the next."""
    match content:
        case str():
            return content.rstrip()
        case [*before, {"type": "text", "text": str(text)}]:
            return [*before, {"type": "text", "text": text.rstrip()}]
        case _:
            return content


def _block(part: Part) -> Block:
    match part:
        case ReasoningPart(redacted=str(data)):
            return {"type": "redacted_thinking", "data": data}
        case ReasoningPart(text=text, signature=signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case CallPart(call_id=call_id, name=name, args=args):
            return {"type": "tool_use", "id": call_id, "name": name, "input": plain_json(args)}
        case ResultPart(call_id=call_id, content=content, is_error=is_error):
            shown = _content([_shown(one) for one in content])
            result = {"type": "tool_result", "tool_use_id": call_id, "content": shown}
            return {**result, "is_error": True} if is_error else result
        case TextBlock() | ImageBlock() | DocumentBlock():
            return _shown(part)
        case _:
            assert_never(part)


def _shown(part: ResultContent) -> Block:
    match part:
        case TextBlock(text=text):
            return _text(text)
        case JsonObject(data=data):
            return _text(json.dumps(data, ensure_ascii=False))
        case ImageBlock() | DocumentBlock():
            return _media(part)
        case _:
            assert_never(part)


def _media(block: ImageBlock | DocumentBlock) -> Block:
    """Documents are PDF or text."""
    found = inline(block)
    if isinstance(found, TextBlock):
        return _text(found.text)
    media_type, data = found
    source = {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode("ascii")}
    if isinstance(block, ImageBlock):
        return {"type": "image", "source": source}
    if (text := text_of(media_type, data)) is not None:
        source = {"type": "text", "media_type": "text/plain", "data": text}
    elif media_type != PDF:
        return _text(note(block, "this type of document cannot be shown").text)
    return {"type": "document", "source": source, "title": block.name}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}
