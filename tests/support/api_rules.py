"""What the Anthropic Messages API and the OpenAI chat API would refuse of a conversation, in words.

Written from their documents, and independent of the exports: it shares nothing with what it judges. Converse's rules
stand in `tests/wire/rules.py`.
"""

import base64
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

Message = dict[str, Any]
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_BY = {
    "user": {"text", "image", "document", "tool_result"},
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use"},
}


def anthropic_faults(messages: list[Message]) -> list[str]:
    """Of a conversation that may still be open: the last message may be the assistant's."""
    return list(_anthropic(messages))


def _anthropic(messages: list[Message]) -> Iterator[str]:
    roles = [message["role"] for message in messages]
    if roles[:1] != ["user"] or any(before == after for before, after in pairwise(roles)):
        yield f"roles {roles}"
    asked: list[str] = []
    seen: set[str] = set()
    for index, message in enumerate(messages):
        if message.keys() != {"role", "content"}:
            yield f"{index}: fields {sorted(message)}"
        blocks = _blocks(message["content"])
        yield from (f"{index}: {fault}" for block in blocks for fault in _block(block, message["role"]))
        if not blocks or blocks[-1]["type"] in ("thinking", "redacted_thinking"):
            yield f"{index}: empty, or ends in thinking"
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if answered != asked or any(block["type"] != "tool_result" for block in blocks[: len(answered)]):
            yield f"{index}: asked {asked}, answered {answered}"
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if len({*asked, *seen}) < len(asked) + len(seen):
            yield f"{index}: an id again"
        seen.update(asked)
    if asked:
        yield "the last calls are not answered"
    last = _blocks(messages[-1]["content"])[-1:] if messages and messages[-1]["role"] == "assistant" else []
    if any(block.get("text", "x") != block.get("text", "x").rstrip() for block in last):
        yield "the last answer ends in white space"


def _blocks(content: Any) -> list[Message]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _block(block: Message, role: str) -> Iterator[str]:
    if block["type"] not in _BY[role]:
        yield f"{block['type']} by the {role}"
    match block:
        case {"type": "tool_use", "id": str(call_id), "name": str(name), "input": dict(args), **rest}:
            if rest or not _ID.fullmatch(call_id) or not _ID.fullmatch(name) or not _plain(args):
                yield "a call's id, name, input or another field"
        case {"type": "tool_result", "tool_use_id": str(), "content": content, **rest}:
            inner = _blocks(content)
            if not inner or rest.keys() - {"is_error"}:
                yield "a result without content, or with another field"
            for one in inner:
                if one["type"] not in ("text", "image", "document"):
                    yield f"{one['type']} in a result"
                yield from _block(one, "user")
        case {"type": "thinking", "thinking": str(), "signature": str(signature), **rest}:
            if rest or not signature:
                yield "thinking unsigned"
        case {"type": "redacted_thinking", "data": str(data), **rest}:
            if rest or not base64.b64decode(data, validate=True):
                yield "redacted thinking without data"
        case _:
            yield from _shown(block)


def _shown(block: Message) -> Iterator[str]:
    match block:
        case {"type": "text", "text": str(text), **rest}:
            if rest or not text.strip():
                yield "blank text"
        case {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}:
            if kind not in ("image/png", "image/jpeg", "image/gif", "image/webp") or not base64.b64decode(
                data
            ):
                yield f"image {kind}"
        case {"type": "document", "source": {"type": "base64", "media_type": kind, "data": data}}:
            if kind != "application/pdf" or b"%PDF-" not in base64.b64decode(data, validate=True):
                yield f"document {kind}"
        case {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": data}}:
            if not data.strip():
                yield "a blank document"
        case _:
            yield f"no known block: {block}"


def _plain(value: Any) -> bool:
    """Only what any JSON serialiser takes, and what its owner may change."""
    match value:
        case dict():
            return type(value) is dict and all(map(_plain, value.values()))
        case list():
            return type(value) is list and all(map(_plain, value))
        case _:
            return value is None or type(value) in (str, int, float, bool)


def openai_faults(messages: list[Message]) -> list[str]:
    """Of a conversation that may still be open."""
    return list(_openai(messages))


def _openai(messages: list[Message]) -> Iterator[str]:
    asked: list[str] = []
    seen: set[str] = set()
    for index, message in enumerate(messages):
        match message:
            case {"role": "tool", "tool_call_id": call_id, "content": str(content), **rest}:
                if rest or asked[:1] != [call_id] or not content.strip():
                    yield f"{index}: result of {call_id}, due is {asked[:1]}"
                asked = asked[1:]
                continue
            case {"role": "user", "content": content, **rest}:
                parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
                if rest or not parts or not all(map(_openai_part, parts)):
                    yield f"{index}: user content {parts}"
            case {"role": "assistant", "content": content, **rest}:
                calls = rest.pop("tool_calls", [])
                if rest or not (calls if content is None else content.strip()):
                    yield f"{index}: an answer with nothing in it, or with another field"
                yield from (f"{index}: {call}" for call in calls if not _openai_call(call))
                fresh = [call["id"] for call in calls]
                if asked or len({*fresh, *seen}) < len(fresh) + len(seen):
                    yield f"{index}: an id again, or calls before results"
                asked = fresh
                seen.update(fresh)
                continue
            case _:
                yield f"{index}: no known message: {message}"
        if asked:
            yield f"{index}: {asked} are not answered"
    if asked:
        yield "the last calls are not answered"


def _openai_call(call: Message) -> bool:
    match call:
        case {
            "id": str(call_id),
            "type": "function",
            "function": {"name": str(name), "arguments": str(args)},
        }:
            return len(call_id) <= 40 and bool(_ID.fullmatch(name)) and isinstance(json.loads(args), dict)
        case _:
            return False


def _openai_part(part: Message) -> bool:
    match part:
        case {"type": "text", "text": str(text)}:
            return bool(text.strip())
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            return url.startswith("data:image/")
        case {"type": "file", "file": {"filename": str(name), "file_data": str(url)}}:
            return bool(name) and url.startswith("data:application/pdf;base64,")
        case _:
            return False
