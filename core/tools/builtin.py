"""The built-in tools, as a model is told of them. What each does to a thread stands in `core/slice/builtin/`.

Their signatures give the schemas, and their docstrings the descriptions; the functions are never run.
"""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from core.tools.definition import DEFAULT_INLINE_TIMEOUT_SECONDS, Tool
from core.tools.schema import read_signature


def spawn_thread(
    instructions: str, child_of: list[str], agent: str | None = None, inherit: bool = True
) -> None:
    """Start a child thread that works on its own while you go on.

    `instructions` are its whole task. `child_of` must be your own thread stack: the ids of your threads from the root
    to yourself, so that only the thread that wants a child gets one. `agent` names another agent to play it. With
    `inherit` it sees the conversation so far, without it only its instructions. Its reports come to you as events; its
    last text does by itself. The result names the child.
    """


def report_to_parent(report: str) -> None:
    """Tell the thread that spawned you something, and go on working."""


def close_thread(thread_id: str, report_to_parent: str | None = None) -> None:
    """End a thread for good: yourself, or one of your open children.

    What it waits for and its own children end with it, and so do the other calls of the same turn if you close
    yourself. `report_to_parent`, only for yourself, is told your parent in place of your last text.
    """


def send_message_to_child(thread_id: str, message: str) -> None:
    """Tell one of your open children something. It does not interrupt what the child waits for."""


def cancel_subscription(call_id: str) -> None:
    """End a subscription that a call of yours opened: no more of its events come."""


def sleep(seconds: float) -> None:
    """Wait. An event, a report or a message from the user ends it early."""


def sleep_until(date: str, time: str, timezone: str) -> None:
    """Wait until a local time: date as 2026-03-08, time as 02:30 or 02:30:00, timezone an IANA name.

    An event, a report or a message from the user ends it early.
    """


def sleep_until_event_or_input() -> None:
    """Wait until something comes: an event, a report or a message from the user."""


_FUNCTIONS: tuple[Callable[..., None], ...] = (
    spawn_thread,
    report_to_parent,
    close_thread,
    send_message_to_child,
    cancel_subscription,
    sleep,
    sleep_until,
    sleep_until_event_or_input,
)


@cache
def builtin_tools() -> Mapping[str, Tool]:
    """By name, in the order a model is told of them."""
    return MappingProxyType({function.__name__: _definition(function) for function in _FUNCTIONS})


def _definition(function: Callable[..., Any]) -> Tool:
    signature = read_signature(function.__name__, function)
    return Tool(
        name=function.__name__,
        description=_one_paragraph(function.__doc__ or ""),
        input_schema=signature.json_schema(),
        function=function,
        signature=signature,
        is_async=False,
        timeout_seconds=DEFAULT_INLINE_TIMEOUT_SECONDS,
        builtin=True,
    )


def _one_paragraph(text: str) -> str:
    return " ".join(text.replace("`", "").split())
