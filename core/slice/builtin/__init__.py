"""What the built-in tools do to a thread, one module each. They only change the draft."""

from collections.abc import Callable, Mapping
from typing import Any

from core.entries import ToolCall
from core.slice.builtin import close, message, report, sleep, spawn, subscription
from core.slice.builtin.caller import Caller, Told, Waits

__all__ = ["Caller", "Told", "Waits", "act"]

_ACTS: Mapping[str, Callable[[Caller, ToolCall, Mapping[str, Any]], Told | Waits]] = {
    "spawn_thread": spawn.act,
    "report_to_parent": report.act,
    "close_thread": close.act,
    "send_message_to_child": message.act,
    "cancel_subscription": subscription.act,
    "sleep": sleep.for_seconds,
    "sleep_until": sleep.until,
    "sleep_until_event_or_input": sleep.until_something_comes,
}


def act(caller: Caller, call: ToolCall, arguments: Mapping[str, Any]) -> Told | Waits:
    """Carry out a built-in call with its validated arguments; returns what the model is told, at once or later."""
    return _ACTS[call.name](caller, call, arguments)
