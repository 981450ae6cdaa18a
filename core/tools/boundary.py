"""The tool boundary: whatever a tool's own code raises becomes one error of ours, with a short text.

Beside the per-record boundary of a batch this is the only broad `except`: a tool is foreign code, and a call must be
answered whatever it does (invariant *never stuck*).
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from core.errors import PermanentError
from core.text import clean_text, shorten

MAX_ERROR_CHARACTERS = 1_000
"""Of an exception's message shown to the model."""


class ToolFailed(PermanentError):
    """A tool's code raised. The message is for the model: a type and a text, never a traceback."""


PASSES = (ToolFailed, asyncio.CancelledError, KeyboardInterrupt, GeneratorExit)
"""All that can leave the boundary: its own error, and what stops us rather than the tool."""


@contextmanager
def tool_boundary() -> Iterator[None]:
    """Raises ToolFailed for everything raised inside, SystemExit included; `PASSES` passes."""
    try:
        yield
    except PASSES:
        raise
    except BaseException as exc:
        raise ToolFailed(_described(exc)) from exc


def _described(exc: BaseException) -> str:
    name = type(exc).__name__
    try:
        text = _brief(exc) if isinstance(exc, ValidationError) else str(exc).strip()
    except Exception:  # noqa: BLE001 - part of the boundary: __str__ is the tool's code too
        text = ""
    return shorten(clean_text(f"{name}: {text}" if text else name), MAX_ERROR_CHARACTERS)


def _brief(error: ValidationError) -> str:
    """Pydantic's message without its links and input values."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    return f"{error.title}: " + "; ".join(
        f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults
    )
