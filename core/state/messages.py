"""Messages as authors write and keep them: role and content, in the block format of the Anthropic Messages API.

What is read here becomes the `RequestMessage` that everything else works on; what is written here can be read again.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, assert_never, get_args

from pydantic import ValidationError

from core.blocks import DocumentBlock, ImageBlock, TextBlock
from core.errors import MisuseError
from core.request import (
    CallPart,
    JsonObject,
    Part,
    ReasoningPart,
    RequestMessage,
    ResultContent,
    ResultPart,
    Role,
)
from core.state.frozen import frozen_json
from core.text import clean_json, clean_text
from core.tools.content import UnsupportedResult, plain_json, to_content

Authored = RequestMessage | Mapping[str, Any]
"""A message, or `{"role": …, "content": …}` with a string or a list of blocks."""


def read_message(message: Authored) -> RequestMessage:
    """The message, deeply unchangeable. Raises MisuseError, saying what is wrong."""
    if isinstance(message, RequestMessage):
        return replace(message, parts=tuple(map(_frozen, message.parts)))
    if not isinstance(message, Mapping):
        raise MisuseError(f"a message is a dict with role and content, not {type(message).__name__}")
    role: Any = message.get("role")
    content = message.get("content")
    if role not in get_args(Role):
        raise MisuseError(f"a message's role is one of {get_args(Role)}, not {role!r}")
    blocks = [content] if isinstance(content, str) else content
    if not isinstance(blocks, list | tuple):
        raise MisuseError(f"a message's content is a string or a list, not {type(content).__name__}")
    return RequestMessage(role, tuple(_part(block) for block in blocks))


def read_messages(messages: object) -> tuple[RequestMessage, ...]:
    """Several. Raises MisuseError."""
    if not isinstance(messages, Iterable) or isinstance(messages, str | Mapping):
        raise MisuseError(f"messages are a list, not {type(messages).__name__}")
    return tuple(map(read_message, messages))


def write_messages(messages: Sequence[RequestMessage]) -> list[dict[str, Any]]:
    """As JSON. `read_messages` gives the same messages again."""
    return [
        {"role": message.role, "content": [_written(part) for part in message.parts]} for message in messages
    ]


def _part(block: Any) -> Part:
    match block:
        case str():
            return TextBlock(text=clean_text(block))
        case TextBlock() | ImageBlock() | DocumentBlock() | ReasoningPart() | CallPart() | ResultPart():
            return _frozen(block)
        case {"type": "tool_use", "id": str(call_id), "name": str(name), **rest}:
            return CallPart(call_id, name, _object(rest.get("input", {}), "a call's input"))
        case {"type": "tool_result", "tool_use_id": str(call_id), **rest}:
            shown = _result_content(rest.get("content", ()))
            return ResultPart(call_id, str(rest.get("name", "")), shown, rest.get("is_error") is True)
        case {"type": "thinking", "thinking": str(text), "signature": None | str() as signature}:
            return ReasoningPart(clean_text(text), signature)
        case {"type": "redacted_thinking", "data": str(data)}:
            return ReasoningPart(block.get("thinking", ""), block.get("signature"), data)
        case _:
            content = _block(block)
            return _as_text(content) if isinstance(content, JsonObject) else content


def _as_text(content: JsonObject) -> TextBlock:
    """Providers take no JSON beside a result."""
    return TextBlock(text=json.dumps(content.data, ensure_ascii=False))


def _result_content(content: Any) -> tuple[ResultContent, ...]:
    """What a tool returned, or blocks of it."""
    if isinstance(content, list | tuple) and all(_is_block(block) for block in content):
        return tuple(_frozen_content(_block(block)) for block in content)
    try:
        (only,) = to_content(content)
    except UnsupportedResult as error:
        raise MisuseError(f"a result's content: {error}") from error
    return (_frozen_content(_block(only.to_json())),)


def _is_block(block: Any) -> bool:
    if isinstance(block, TextBlock | ImageBlock | DocumentBlock | JsonObject):
        return True
    return isinstance(block, Mapping) and block.get("type") in ("text", "json", "image", "document")


def _block(block: Any) -> ResultContent:
    """A content block, as the wire has it or as the Messages API has it."""
    try:
        match block:
            case TextBlock() | ImageBlock() | DocumentBlock() | JsonObject():
                return block
            case {"type": "text", "text": str(text)}:
                return TextBlock(text=clean_text(text))
            case {"type": "json", "data": Mapping() as data}:
                return JsonObject(_object(data, "a JSON block"))
            case {"type": "image" | "document" as kind, "source": Mapping() as source, **rest}:
                name = {"name": str(rest.get("title") or "document")} if kind == "document" else {}
                return _media(
                    kind, {"media_type": source.get("media_type"), "data": source.get("data"), **name}
                )
            case {"type": "image" | "document" as kind}:
                return _media(kind, block)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise MisuseError(f"a block of type {block['type']}: {first['loc']}: {first['msg']}") from error
    named = block.get("type") if isinstance(block, Mapping) else type(block).__name__
    raise MisuseError(f"no known block, or one that lacks a field: {named!r}")


def _media(kind: str, fields: Mapping[str, Any]) -> ImageBlock | DocumentBlock:
    model = ImageBlock if kind == "image" else DocumentBlock
    return model.model_validate(dict(fields))


def _object(value: Any, what: str) -> dict[str, Any]:
    """A JSON object of its own that nobody can change."""
    try:
        data = clean_json(plain_json(dict(value) if isinstance(value, Mapping) else value))
    except UnsupportedResult as error:
        raise MisuseError(f"{what}: {error}") from error
    if not isinstance(data, dict):
        raise MisuseError(f"{what} is an object, not {type(value).__name__}")
    frozen: dict[str, Any] = frozen_json(data)
    return frozen


def _frozen(part: Part) -> Part:
    match part:
        case CallPart(args=args):
            return replace(part, args=_object(args, "a call's arguments"))
        case ResultPart(content=content):
            return replace(part, content=tuple(map(_frozen_content, content)))
        case TextBlock() | ImageBlock() | DocumentBlock() | ReasoningPart():
            return part
        case _:
            assert_never(part)


def _frozen_content(content: ResultContent) -> ResultContent:
    return JsonObject(_object(content.data, "a result")) if isinstance(content, JsonObject) else content


def _written(part: Part) -> dict[str, Any]:
    match part:
        case CallPart(call_id=call_id, name=name, args=args):
            return {"type": "tool_use", "id": call_id, "name": name, "input": plain_json(args)}
        case ResultPart(call_id=call_id, name=name, content=content, is_error=is_error):
            shown = [_written_content(one) for one in content]
            result = {"type": "tool_result", "tool_use_id": call_id, "name": name, "content": shown}
            return {**result, "is_error": is_error}
        case ReasoningPart(text=text, signature=signature, redacted=data):
            thought = {"type": "thinking", "thinking": text, "signature": signature}
            return thought if data is None else {**thought, "type": "redacted_thinking", "data": data}
        case TextBlock() | ImageBlock() | DocumentBlock():
            return part.to_json()
        case _:
            assert_never(part)


def _written_content(content: ResultContent) -> dict[str, Any]:
    if isinstance(content, JsonObject):
        return {"type": "json", "data": plain_json(content.data)}
    return content.to_json()
