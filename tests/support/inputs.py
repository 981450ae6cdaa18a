"""Inputs as the handler hands them to a slice: built as wire bodies and parsed, so that nothing unreal gets in."""

from typing import Any

from core.messages import Envelope, Input
from core.parsing import parse_input
from core.ports import Outgoing
from core.text import wire_json

THREAD = "t1"


def message(kind: str, message_id: str, /, *, thread_id: str = THREAD, **fields: Any) -> Input:
    """An input of any type."""
    body = {"type": kind, "thread_id": thread_id, "message_id": message_id, **fields}
    return parse_input(wire_json(body), Envelope(f"sqs-{message_id}", thread_id))


def user(text: str, message_id: str = "m1", **fields: Any) -> Input:
    return message("user_message", message_id, content=text, **fields)


def result(call_id: str, content: Any = "out", message_id: str = "", **fields: Any) -> Input:
    """A worker's result, under an id of its own call unless another is given."""
    return message("tool_result", message_id or f"r-{call_id}", call_id=call_id, content=content, **fields)


def cancel(message_id: str = "stop") -> Input:
    return message("cancel", message_id)


def close(message_id: str = "end") -> Input:
    return message("close", message_id)


def delivered(outgoing: Outgoing) -> Input:
    """A wake or timer of ours, as it comes back on the input queue."""
    return parse_input(outgoing.body, Envelope(outgoing.id, outgoing.group))
