"""The strict request check: invariant *well-formed*, by the rules of the strictest provider (Bedrock Converse).

Apart from the renderer, which it must not trust: every model call passes `check_request` last, whoever built the
request. What it refuses is a bug of ours. Its errors say where and what, never content.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, assert_never

from core.blocks import DocumentBlock, ImageBlock, TextBlock
from core.errors import MalformedRequest
from core.ids import NAME
from core.request import (
    CallPart,
    JsonObject,
    ModelRequest,
    Part,
    ReasoningPart,
    RequestMessage,
    ResultContent,
    ResultPart,
    ToolSpec,
)

DOCUMENT_NAME = re.compile(r"[A-Za-z0-9 ()\[\]-]{1,200}")
TOP_LEVEL_FORBIDDEN = ("anyOf", "oneOf", "allOf", "$ref")


def check_request(request: ModelRequest) -> None:
    """Return if every provider would take `request`; raise MalformedRequest at the first rule it breaks.

    Instructions are not checked: blank ones are none, and an adapter sends no system block for them.
    """
    _check_tools(request.tools)
    _check_roles(request.messages)
    for index, message in enumerate(request.messages):
        _check_message(message, f"message {index}")
    _check_calls_answered(request.messages)
    _check_unique(_call_ids(request.messages), "call id")
    _check_unique(_document_names(request.messages), "document name")
    if not request.tools and any(_calls(message) for message in request.messages):
        raise MalformedRequest("tools: none, though the history has calls")


def _check_tools(tools: Sequence[ToolSpec]) -> None:
    for index, tool in enumerate(tools):
        where = f"tool {index}"
        _require(NAME.fullmatch(tool.name), where, "name not 1–64 of A-Za-z0-9_-")
        _require(tool.description.strip(), where, "blank description")
        _require(tool.schema.get("type") == "object", where, "schema not of type object")
        for word in TOP_LEVEL_FORBIDDEN:
            _require(word not in tool.schema, where, f"schema with {word} at its top")
        _check_json(tool.schema, where, "schema")
    _check_unique(((f"tool {index}", tool.name) for index, tool in enumerate(tools)), "tool name")


def _check_roles(messages: Sequence[RequestMessage]) -> None:
    _require(messages, "messages", "none")
    _require(messages[0].role == "user", "message 0", "the first message is not the user's")
    for index, (before, message) in enumerate(pairwise(messages), start=1):
        _require(before.role != message.role, f"message {index}", "the same role twice in a row")
    _require(
        messages[-1].role == "user", f"message {len(messages) - 1}", "the last message is not the user's"
    )


def _check_message(message: RequestMessage, where: str) -> None:
    _require(message.parts, where, "empty")
    for index, part in enumerate(message.parts):
        _check_part(part, message.role == "assistant", f"{where}, part {index}")
    _require(not isinstance(message.parts[-1], ReasoningPart), where, "ends in reasoning")


def _check_part(part: Part, by_assistant: bool, where: str) -> None:
    match part:
        case TextBlock():
            _require(part.text.strip(), where, "blank text")
        case ImageBlock():
            _require(not by_assistant, where, "an image in an assistant message")
        case DocumentBlock():
            _require(not by_assistant, where, "a document in an assistant message")
            _check_document_name(part.name, where)
        case ReasoningPart():
            _require(by_assistant, where, "reasoning in a user message")
            _require(part.signature or part.redacted, where, "reasoning neither signed nor redacted")
        case CallPart():
            _require(by_assistant, where, "a call in a user message")
            _check_names(part, where)
            _require(isinstance(part.args, dict), where, "arguments not an object")
            _check_json(part.args, where, "arguments")
        case ResultPart():
            _require(not by_assistant, where, "a result in an assistant message")
            _check_names(part, where)
            _require(part.content, where, "a result without content")
            for index, content in enumerate(part.content):
                _check_result_content(content, f"{where}, content {index}")
        case _:
            assert_never(part)


def _check_names(part: CallPart | ResultPart, where: str) -> None:
    _require(NAME.fullmatch(part.call_id), where, "call id not 1–64 of A-Za-z0-9_-")
    _require(NAME.fullmatch(part.name), where, "tool name not 1–64 of A-Za-z0-9_-")


def _check_result_content(content: ResultContent, where: str) -> None:
    match content:
        case TextBlock():
            _require(content.text.strip(), where, "blank text")
        case DocumentBlock():
            _check_document_name(content.name, where)
        case JsonObject():
            _require(isinstance(content.data, dict), where, "JSON that is not an object")
            _check_json(content.data, where, "result")
        case ImageBlock():
            pass
        case _:
            assert_never(content)


def _check_document_name(name: str, where: str) -> None:
    _require(DOCUMENT_NAME.fullmatch(name), where, "document name outside its alphabet or longer than 200")
    _require(name.strip() and "  " not in name, where, "document name blank or with two spaces in a row")


def _check_json(value: Any, where: str, what: str) -> None:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise MalformedRequest(f"{where}: {what} not JSON ({type(error).__name__})") from error


def _check_calls_answered(messages: Sequence[RequestMessage]) -> None:
    """Every call is answered once in the very next message, in call order, before anything else; nothing else is."""
    previous: list[CallPart] = []
    for index, message in enumerate(messages):
        for position, call in enumerate(previous):
            where = f"message {index}, part {position}"
            answer = message.parts[position] if position < len(message.parts) else None
            _require(isinstance(answer, ResultPart), where, "not the result of the call that is due here")
            if isinstance(answer, ResultPart):
                _require(answer.call_id == call.call_id, where, "the result of another call than is due here")
                _require(answer.name == call.name, where, "a result under another tool name than its call's")
        for position, part in enumerate(message.parts[len(previous) :], start=len(previous)):
            where = f"message {index}, part {position}"
            _require(not isinstance(part, ResultPart), where, "a result without a call before it")
        previous = _calls(message)


def _calls(message: RequestMessage) -> list[CallPart]:
    return [part for part in message.parts if isinstance(part, CallPart)]


def _call_ids(messages: Sequence[RequestMessage]) -> Iterator[tuple[str, str]]:
    for where, part in _parts(messages):
        if isinstance(part, CallPart):
            yield where, part.call_id


def _document_names(messages: Sequence[RequestMessage]) -> Iterator[tuple[str, str]]:
    for where, part in _parts(messages):
        if isinstance(part, DocumentBlock):
            yield where, part.name
        elif isinstance(part, ResultPart):
            yield from ((where, block.name) for block in part.content if isinstance(block, DocumentBlock))


def _parts(messages: Sequence[RequestMessage]) -> Iterator[tuple[str, Part]]:
    for index, message in enumerate(messages):
        for position, part in enumerate(message.parts):
            yield f"message {index}, part {position}", part


def _check_unique(named: Iterator[tuple[str, str]], what: str) -> None:
    first: dict[str, str] = {}
    for where, name in named:
        _require(name not in first, where, f"the same {what} as {first.get(name)}")
        first[name] = where


def _require(holds: object, where: str, what: str) -> None:
    if not holds:
        raise MalformedRequest(f"{where}: {what}")
