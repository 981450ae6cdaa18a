"""The OpenAI chat format: calls beside the assistant's text, each result a message of role `tool`."""

import base64
import json
from collections.abc import Iterator, Sequence
from typing import Any

from core.blocks import DocumentBlock, ImageBlock, TextBlock
from core.request import CallPart, JsonObject, RequestMessage, ResultContent, ResultPart
from core.state.exports.media import PDF, inline, note, text_of
from core.state.exports.pairing import well_formed
from core.text import wire_json

Message = dict[str, Any]
ERROR = "[error] "
"""Before the text of a result that is one: the format has no other place to say it."""


def openai_messages(messages: Sequence[RequestMessage], opening: str = "") -> list[Message]:
    """As the `messages` of a chat completion. Reasoning is left out: the format has none.

    `opening` is what the user said, should the assistant begin.
    """
    return [made for message in well_formed(messages, opening) for made in _messages(message)]


def _messages(message: RequestMessage) -> Iterator[Message]:
    if message.role == "assistant":
        yield from _assistant(message)
        return
    shown: list[Message] = []
    for part in message.parts:
        match part:
            case ResultPart(call_id=call_id, content=content, is_error=is_error):
                yield {"role": "tool", "tool_call_id": call_id, "content": _result_text(content, is_error)}
                shown += [block for one in content for block in _media_of_result(call_id, one)]
            case TextBlock(text=text):
                shown.append(_text(text))
            case ImageBlock() | DocumentBlock():
                shown.append(_media(part))
            case _:
                raise AssertionError("only the assistant reasons and calls: pairing has seen to it")
    if shown:
        only_text = len(shown) == 1 and shown[0]["type"] == "text"
        yield {"role": "user", "content": shown[0]["text"] if only_text else shown}


def _assistant(message: RequestMessage) -> Iterator[Message]:
    texts = [part.text for part in message.parts if isinstance(part, TextBlock)]
    calls = [_call(part) for part in message.parts if isinstance(part, CallPart)]
    made: Message = {"role": "assistant", "content": "\n\n".join(texts) or None}
    yield {**made, "tool_calls": calls} if calls else made


def _call(part: CallPart) -> Message:
    function = {"name": part.name, "arguments": wire_json(part.args)}
    return {"id": part.call_id, "type": "function", "function": function}


def _result_text(content: Sequence[ResultContent], is_error: bool) -> str:
    """Results are text. Media follow in the user's message."""
    texts: list[str] = []
    for one in content:
        match one:
            case TextBlock(text=text):
                texts.append(text)
            case JsonObject(data=data):
                texts.append(json.dumps(data, ensure_ascii=False))
            case _:
                texts.append(f"[{one.type}: see the user's message after the results]")
    return (ERROR if is_error else "") + "\n\n".join(texts)


def _media_of_result(call_id: str, content: ResultContent) -> list[Message]:
    if isinstance(content, TextBlock | JsonObject):
        return []
    return [_text(f"[{content.type} of the result of {call_id}]"), _media(content)]


def _media(block: ImageBlock | DocumentBlock) -> Message:
    """Images and PDF files go as data URLs, documents of text as text."""
    found = inline(block)
    if isinstance(found, TextBlock):
        return _text(found.text)
    media_type, data = found
    url = f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"
    if isinstance(block, ImageBlock):
        return {"type": "image_url", "image_url": {"url": url}}
    if (text := text_of(media_type, data)) is not None:
        return _text(f"[document {block.name}]\n{text}")
    if media_type == PDF:
        return {"type": "file", "file": {"filename": f"{block.name}.pdf", "file_data": url}}
    return _text(note(block, "this type of document cannot be shown").text)


def _text(text: str) -> Message:
    return {"type": "text", "text": text}
