"""A call's arguments as a model wrote them: an object, or the text that is none. Shared by every model adapter."""

import json
from typing import Any, NoReturn


def arguments_of(text: str) -> dict[str, Any] | str:
    """The object that a call's input is, else its text: of a cut one, never an object. No text at all stays none."""
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return text if text.strip() else ""
    return value if isinstance(value, dict) else text


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")
