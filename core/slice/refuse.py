"""Refusing an input: kept for people, told to whoever sent it, and acknowledged. It never blocks its group."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.clock import iso
from core.delivery import OUTPUT
from core.errors import NotSettled, Refused
from core.ids import digest, root_of
from core.ports import Outgoing, ParkedBody
from core.slice.ports import SlicePorts
from core.text import shorten, wire_json

RETRYABLE_CODES = frozenset({"busy"})
LONGEST_REASON = 500


@dataclass(frozen=True, slots=True)
class RefusedBody:
    """A body that is not accepted, and what is known of it."""

    refusal: Refused
    message_id: str
    body: str
    thread_id: str | None
    """None if it names no usable thread: then nobody can be told."""
    sent_at: datetime | None = None
    source: str = "input"
    sender: str | None = None
    """Whose word it is."""
    seq: int = 0
    """The last entry of the thread, as far as it was read."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


async def refuse(ports: SlicePorts, refused: RefusedBody) -> tuple[str, ...]:
    """Park the body (unless the thread is just closed) and tell the sender. Idempotent.

    Returns the ids of outputs that can never be sent, to be logged. Raises StoreUnavailable or NotSettled: the record
    must be delivered again.
    """
    refusal = refused.refusal
    if refusal.code != "closed":
        await ports.store.park(
            ParkedBody(
                source=refused.source,
                reason=f"{refusal.code}: {shorten(refusal.reason, LONGEST_REASON)}",
                first_seen=refused.sent_at or ports.clock.now(),
                message_id=refused.message_id,
                body=refused.body,
                sender=refused.sender,
            )
        )
    if refused.thread_id is None:
        return ()
    unsent = await ports.dispatcher.send([_error_output(refused, refused.thread_id, ports.clock.now())])
    if any(not one.permanent for one in unsent):
        raise NotSettled(f"the refusal of {refused.message_id!r} cannot be told for now")
    return tuple(one.message.id for one in unsent)


def _error_output(refused: RefusedBody, thread_id: str, now: datetime) -> Outgoing:
    refusal = refused.refusal
    output_id = digest("refused", thread_id, refused.message_id, refusal.code, refusal.reason)
    body = {
        "v": 1,
        "type": "error",
        "output_id": output_id,
        "thread_id": thread_id,
        "root_thread_id": root_of(thread_id),
        "seq": refused.seq,
        "metadata": dict(refused.metadata),
        "created_at": iso(now),
        "code": refusal.code,
        "message": shorten(refusal.reason, LONGEST_REASON),
        "message_id": refused.message_id,
        "retryable": refusal.code in RETRYABLE_CODES,
    }
    return Outgoing(output_id, OUTPUT, wire_json(body), root_of(thread_id))
