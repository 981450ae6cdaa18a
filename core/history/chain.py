"""Running an agent's history processors, in order, on a copy of what a request would show; and checking each.

Apart from the processors because it must not trust them: authors write their own.
"""

import asyncio
import inspect
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

from core.chunks import Usage
from core.errors import MalformedRequest, PermanentError
from core.request import ModelRequest, RequestMessage, ToolSpec, joined
from core.strict import check_request
from core.tools.boundary import ToolFailed, tool_boundary

_ANY_TOOL = ToolSpec("any", "Stands for the tools of the request.", {"type": "object"})


class ProcessorFailed(PermanentError):
    """A history processor raised, or returned what no model may be given. Names it; the author has to mend it."""


@dataclass(frozen=True, slots=True)
class HistoryContext:
    """What a processor with a parameter named `context` may know beside the messages."""

    thread_id: str = ""
    model: str = ""
    """`provider:model`, as the agent names it."""
    past_usage: tuple[Usage, ...] = ()
    """The tokens that the newest turns really took, oldest turn first."""


async def run_processors(
    processors: Sequence[Callable[..., Any]],
    messages: Sequence[RequestMessage],
    context: HistoryContext,
    timeout_seconds: float,
) -> tuple[RequestMessage, ...]:
    """`messages` after each processor in order. Neighbours of one role become one message.

    Raises ProcessorFailed if one raises, is not done within `timeout_seconds`, or returns what is not well-formed.
    """
    shown = tuple(messages)
    if not processors:
        return shown
    shown = deepcopy(shown)
    for processor in processors:
        name = processor_name(processor)
        returned = await _apply(processor, name, shown, context, timeout_seconds)
        shown = _checked(name, returned)
    return shown


def processor_name(processor: Callable[..., Any]) -> str:
    """What errors call it."""
    inner = processor.func if isinstance(processor, partial) else processor
    return getattr(inner, "__name__", type(inner).__name__)


async def _apply(
    processor: Callable[..., Any],
    name: str,
    messages: tuple[RequestMessage, ...],
    context: HistoryContext,
    timeout_seconds: float,
) -> object:
    extra = {"context": context} if _takes_context(processor) else {}
    try:
        with tool_boundary():
            async with asyncio.timeout(timeout_seconds):
                returned = processor(list(messages), **extra)
                return await returned if inspect.isawaitable(returned) else returned
    except ToolFailed as error:
        raise ProcessorFailed(f"history processor {name!r} failed: {error}") from error


def _takes_context(processor: Callable[..., Any]) -> bool:
    try:
        return "context" in inspect.signature(processor).parameters
    except (TypeError, ValueError):  # no signature: a builtin, or a callable that hides it
        return False


def _checked(name: str, returned: object) -> tuple[RequestMessage, ...]:
    if not isinstance(returned, list | tuple) or not all(isinstance(m, RequestMessage) for m in returned):
        raise ProcessorFailed(
            f"history processor {name!r} returned {_kind(returned)}, not a list of messages"
        )
    messages = joined(returned)
    try:
        check_request(ModelRequest(model="", messages=messages, tools=(_ANY_TOOL,)))
    except MalformedRequest as error:
        raise ProcessorFailed(
            f"history processor {name!r} returned messages that no model may be given: {error}"
        ) from error
    return messages


def _kind(returned: object) -> str:
    if isinstance(returned, list | tuple):
        stranger = next(item for item in returned if not isinstance(item, RequestMessage))
        return f"a list with {type(stranger).__name__}"
    return type(returned).__name__
