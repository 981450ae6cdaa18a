"""Checking a model's arguments against a tool, with a message the model can act on.

Apart from the run because the slice checks before it dispatches and the worker checks again.
"""

from typing import Any

from pydantic import ValidationError

from core.errors import PermanentError
from core.text import clean_text, shorten
from core.tools.boundary import ToolFailed, tool_boundary
from core.tools.definition import Tool

MAX_MESSAGE_CHARACTERS = 1_000
_MAX_FAULTS = 10


class BadArguments(PermanentError):
    """A call's arguments do not fit its tool. The message tells the model what was wrong, field by field."""


def validate_arguments(tool: Tool, raw: object) -> dict[str, Any]:
    """The keyword arguments for the tool's function, its ToolContext apart, defaults filled in.

    `raw` is what came from the model: a JSON object, or anything else, which is refused. Raises BadArguments.
    """
    if not isinstance(raw, dict):
        raise BadArguments(f"{tool.name}: the arguments must be a JSON object, not {_json_type(raw)}")
    try:
        with tool_boundary():
            return tool.signature.keywords(_validated(tool, raw))
    except ToolFailed as exc:
        raise BadArguments(f"{tool.name}: {exc}") from exc


def _validated(tool: Tool, raw: dict[str, Any]) -> Any:
    try:
        return tool.signature.model.model_validate(raw)
    except ValidationError as exc:
        raise ToolFailed(_faults(tool, exc)) from exc


def _faults(tool: Tool, error: ValidationError) -> str:
    known = ", ".join(tool.input_schema["properties"]) or "none"
    faults = error.errors(include_url=False, include_context=False)
    lines = [_fault(fault, known) for fault in faults[:_MAX_FAULTS]]
    if len(faults) > _MAX_FAULTS:
        lines.append(f"and {len(faults) - _MAX_FAULTS} more")
    return shorten(clean_text("; ".join(lines)), MAX_MESSAGE_CHARACTERS)


def _fault(fault: Any, known: str) -> str:
    place = ".".join(shorten(str(part), 100) for part in fault["loc"])
    match fault["type"]:
        case "missing":
            return f"{place}: required, but missing"
        case "extra_forbidden" if len(fault["loc"]) == 1:
            return f"{place}: no such argument (there are: {known})"
        case "extra_forbidden":
            return f"{place}: no such field"
        case _:
            return f"{place}: {fault['msg']} (got {_json_type(fault['input'])})"


def _json_type(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list() | tuple():
            return "an array"
        case dict():
            return "an object"
        case _:
            return type(value).__name__
