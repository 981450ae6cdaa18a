"""`cancel_subscription`: only the thread that owns a subscription can end it; its worker is told."""

from collections.abc import Mapping
from typing import Any

from core.entries import ToolCall
from core.slice.builtin.caller import Caller, Told, done, failed


def act(caller: Caller, call: ToolCall, arguments: Mapping[str, Any]) -> Told:  # noqa: ARG001 - one shape for all
    """End the subscription."""
    manager, call_id = caller.manager, arguments["call_id"]
    if call_id not in manager.active_subscriptions:
        there = ", ".join(manager.active_subscriptions) or "none"
        return failed(
            f"You have no open subscription {call_id!r}: one of another thread is not yours to end. Open here: {there}."
        )
    manager.remove_subscription(call_id, tell_worker=True)
    return done(cancelled=call_id)
