"""From an untrusted body to an `Input`. `parse_input` is the only way in; a refusal names the field, never a value."""

import json
from typing import Any

from pydantic import TypeAdapter, ValidationError

from core.errors import Refused
from core.ids import digest, is_thread_id
from core.messages import COMMON_FIELDS, Envelope, Input, Message
from core.text import clean_json, is_deeper_than, shorten, wire_json

_MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)

MAX_BODY_DEPTH = 150
"""Nesting of a body: what a tool may return (100 levels), and room for what stands around it."""

BLANK_NOTE = "(blank message)"


def parse_input(body: str, envelope: Envelope) -> Input:
    """The input in `body`. Raises Refused (`invalid`) with a reason that names the field, never its content."""
    message = _parse(_object(body))
    if envelope.group is not None and envelope.group != message.thread_id:
        raise Refused("invalid", "thread_id: must equal the MessageGroupId")
    own = message.model_dump(mode="json", exclude=set(COMMON_FIELDS))
    return Input(
        message=message,
        message_id=message.message_id or envelope.transport_id,
        body_digest=digest(own),
        sender=envelope.sender,
        body=body,
        sent_at=envelope.sent_at,
        correlation_id=envelope.correlation_id,
    )


def thread_of(body: str) -> tuple[str | None, str | None]:
    """The thread id and message id that a refused body names, each None unless it is usable."""
    try:
        value = _object(body)
    except Refused:
        return None, None
    thread_id, message_id = value.get("thread_id"), value.get("message_id")
    usable = isinstance(thread_id, str) and is_thread_id(thread_id)
    named = isinstance(message_id, str) and 1 <= len(message_id) <= 128
    return (thread_id if usable else None), (message_id if named else None)


def _object(body: str) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused("invalid", f"body: not JSON ({shorten(str(error), 80)})") from error
    if not isinstance(value, dict):
        raise Refused("invalid", "body: must be a JSON object")
    if is_deeper_than(value, MAX_BODY_DEPTH):
        raise Refused("invalid", f"body: nested deeper than {MAX_BODY_DEPTH} levels")
    cleaned: dict[str, Any] = clean_json(value)
    if cleaned.get("message_id") != value.get("message_id"):
        raise Refused(
            "invalid", "message_id: has control characters or what is no character: two ids could become one"
        )
    return cleaned


def _parse(value: dict[str, Any]) -> Message:
    """Strictly: `"yes"` is no bool. As JSON, whose lists are the tuples here."""
    if "content" in value:
        value = {**value, "content": _blocks(value["content"], value.get("type"))}
    try:
        return _MESSAGE.validate_json(wire_json(value), strict=True)
    except ValidationError as error:
        raise refusal_of(error) from None


def _blocks(content: Any, kind: Any) -> list[Any]:
    """A string is one text block, a list of blocks stays; of a result or event, any other JSON value is a JSON block.

    Blank text is left out; what then is empty gets a note: no model may see a blank block.
    """
    match content:
        case str():
            blocks: list[Any] = [{"type": "text", "text": content}]
        case list():
            blocks = content
        case _ if kind in ("tool_result", "subscription_event"):
            blocks = [{"type": "json", "data": content}]
        case _:
            raise Refused("invalid", "content: must be a string or a list of blocks")
    return [block for block in blocks if not _is_blank(block)] or [{"type": "text", "text": BLANK_NOTE}]


def _is_blank(block: Any) -> bool:
    text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None
    return isinstance(text, str) and not text.strip()


def refusal_of(error: ValidationError) -> Refused:
    """The refusal (`invalid`) of a body that is no message: names the first wrong field, and never quotes it."""
    first = error.errors(include_url=False, include_input=False)[0]
    whole = "type" if first["type"].startswith("union_tag") else "body"
    where = ".".join(str(part) for part in first["loc"][1:]) or whole
    return Refused("invalid", f"{where}: {shorten(_what(first), 200)}")


def _what(fault: Any) -> str:
    """Pydantic's words, but for those that quote the body."""
    if fault["type"] == "union_tag_invalid":
        return f"must be one of {fault['ctx']['expected_tags']}"
    return str(fault["msg"]).removeprefix("Value error, ")
