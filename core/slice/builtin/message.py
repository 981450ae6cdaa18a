"""`send_message_to_child`: text for an open child, which joins its history when nothing else is live there."""

from collections.abc import Mapping
from typing import Any

from core.entries import ToolCall
from core.outbox import SendParentMessage
from core.slice.builtin.caller import MAX_TEXT_BYTES, Caller, Told, done, failed, is_too_long


def act(caller: Caller, call: ToolCall, arguments: Mapping[str, Any]) -> Told:
    """Send the message to the child."""
    thread_id, text = arguments["thread_id"], arguments["message"]
    if caller.manager.state.child(thread_id) is None:
        return failed(not_open(caller, thread_id))
    if not text.strip() or is_too_long(text):
        return failed(f"message must not be empty, nor longer than {MAX_TEXT_BYTES:,} bytes as JSON.")
    caller.manager.draft.send(SendParentMessage(thread_id=thread_id, call_id=call.call_id))
    return done(sent_to=thread_id)


def not_open(caller: Caller, thread_id: str) -> str:
    """What the model is told about a thread that is no open child of its own."""
    there = ", ".join(child.thread_id for child in caller.manager.state.children if child.kind == "spawned")
    return f"{thread_id!r} is no open child of yours. Your open children: {there or 'none'}."
