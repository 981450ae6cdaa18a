"""What the built-in tools do to a thread, one module each. They only change the draft."""

from collections.abc import Callable, Mapping
from typing import Any

from core.entries import ToolCall
from core.slice.builtin import close, message, report, spawn, subscription
from core.slice.builtin.caller import Caller, Told

__all__ = ["Caller", "Told", "act"]

_ACTS: Mapping[str, Callable[[Caller, ToolCall, Mapping[str, Any]], Told]] = {
    "spawn_thread": spawn.act,
    "report_to_parent": report.act,
    "close_thread": close.act,
    "send_message_to_child": message.act,
    "cancel_subscription": subscription.act,
}


def act(caller: Caller, call: ToolCall, arguments: Mapping[str, Any]) -> Told:
    """Carry out a built-in call with its validated arguments; returns what the model is told."""
    return _ACTS[call.name](caller, call, arguments)
