"""Turning what a tool returns into content blocks (contract.md, "What a tool returns").

Apart from `ToolResult` because context, result and worker all need it, and because everything that could make a
stored thread unreadable later is stopped or made harmless here: unknown types, NaN, bad characters, endless nesting.
"""

import json
from typing import Any

from pydantic import BaseModel, TypeAdapter

from core.blocks import Content, DocumentBlock, ImageBlock, JsonBlock, TextBlock, text_content
from core.errors import PermanentError
from core.text import clean_json, clean_text

NO_OUTPUT = "(no output)"
"""What a model is shown instead of blank text, which providers refuse (invariant *well-formed*)."""

MAX_DEPTH = 100
"""Nesting of a JSON value. JSON parsers give up at a depth that differs by machine; a thread must load everywhere."""

MAX_INTEGER_BITS = 14_000
"""Python itself refuses to write integers of more than 4,300 digits."""

_ANY: TypeAdapter[Any] = TypeAdapter(Any)
_BLOCKS = (TextBlock, JsonBlock, ImageBlock, DocumentBlock)


class UnsupportedResult(PermanentError):
    """A tool returned something that is neither JSON nor blocks. The message names the type and where it was."""


def to_content(value: object) -> Content:
    """The blocks for `value`: never empty, no blank text, every JSON value valid and clean.

    Raises UnsupportedResult.
    """
    match value:
        case TextBlock() | JsonBlock() | ImageBlock() | DocumentBlock():
            return _passed_through([value])
        case list() | tuple() if value and all(isinstance(item, _BLOCKS) for item in value):
            return _passed_through(value)
    data = clean_json(plain_json(value))
    match data:
        case str():
            return text_content(data if data.strip() else NO_OUTPUT)
        case dict():
            return (JsonBlock(data=data),)
        case _:
            return text_content(json.dumps(data, ensure_ascii=False, allow_nan=False))


def plain_json(value: object, path: str = "", depth: int = 0) -> Any:
    """A copy of `value` of dicts, lists, strings, numbers, booleans and None only; `path` is where it stands.

    Pydantic models and dataclasses are written by pydantic's JSON mode, wherever they are. Raises UnsupportedResult.
    """
    if depth > MAX_DEPTH:
        raise UnsupportedResult(
            f"the tool returned a value nested deeper than {MAX_DEPTH} levels, or inside itself"
        )
    match value:
        case None | bool():
            return value
        case str():
            return str.__str__(value)
        case int() if value.bit_length() <= MAX_INTEGER_BITS:
            return int(value)
        case float():
            return float(value)
        case dict():
            return {
                _key(key, path): plain_json(item, f"{path}.{key}", depth + 1) for key, item in value.items()
            }
        case list() | tuple():
            return [plain_json(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
        case BaseModel() | object(__dataclass_fields__=_):
            return plain_json(_dumped(value, path), path, depth + 1)
        case _:
            raise UnsupportedResult(
                f"the tool returned {_named(value, path)}, which is neither JSON nor a block"
            )


def _passed_through(blocks: list[Any] | tuple[Any, ...]) -> Content:
    """Blank text blocks carry nothing and are left out, unless there is nothing else."""
    cleaned = [_cleaned(block) for block in blocks]
    kept = [block for block in cleaned if not (isinstance(block, TextBlock) and not block.text.strip())]
    return tuple(kept) or text_content(NO_OUTPUT)


def _cleaned(block: TextBlock | JsonBlock | ImageBlock | DocumentBlock) -> Any:
    match block:
        case TextBlock(text=text):
            return TextBlock(text=clean_text(text))
        case JsonBlock(data=data):
            return JsonBlock(data=clean_json(plain_json(data)))
        case _:
            return block


def _key(key: object, path: str) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    raise UnsupportedResult(
        f"the tool returned a dict with the key {_named(key, path)}: JSON keys are strings"
    )


def _dumped(value: object, path: str) -> Any:
    try:
        if isinstance(value, BaseModel):
            return value.model_dump(mode="json", warnings="none")
        return _ANY.dump_python(value, mode="json", by_alias=False, warnings="none")
    except ValueError as exc:
        raise UnsupportedResult(f"the tool returned {_named(value, path)}, which is not JSON: {exc}") from exc


def _named(value: object, path: str) -> str:
    return f"{type(value).__name__} at {path.lstrip('.')}" if path else type(value).__name__
