"""From what a program wants to say to a message on the input queue, refused here as it would be refused there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from core.delivery import INPUT
from core.errors import Refused
from core.ids import digest
from core.messages import Envelope
from core.parsing import parse_input
from core.ports import Dispatcher, Outgoing
from core.text import shorten, wire_json
from infra.queue_errors import QueueUnavailable, Unsendable
from infra.sqs.limits import body_fault

WireContent = str | Sequence[Mapping[str, Any]]
"""A text, or blocks as contract.md has them."""
OnBusy = Literal["interrupt", "queue"]


@dataclass(frozen=True, slots=True)
class UserText:
    """A `user_message` to be sent."""

    thread_id: str
    content: WireContent
    message_id: str
    metadata: Mapping[str, Any] | None = None
    on_busy: OnBusy | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """What is remembered of a message that was sent from here."""

    body_digest: str
    """As the thread knows it: another one under the same id is refused there."""
    at: datetime
    again: bool = False
    """Whether it was sent from here before."""


def body_of(message: UserText) -> str:
    """Its JSON. Raises Refused (`invalid`) for what JSON does not carry."""
    head = {"v": 1, "type": "user_message", "thread_id": message.thread_id, "message_id": message.message_id}
    optional = {"metadata": message.metadata, "on_busy": message.on_busy, "agent": message.agent}
    given = {name: value for name, value in optional.items() if value is not None}
    try:
        return wire_json({**head, "content": message.content, **given})
    except (TypeError, ValueError, RecursionError) as error:
        raise Refused("invalid", f"body: not JSON ({shorten(str(error), 80)})") from error


async def send_text(dispatcher: Dispatcher, message: UserText, now: datetime, sending: str) -> Sent:
    """Send it; returns when the queue has it.

    `sending` names this one sending: its own repeats are one message to the queue. Sent again later it is another
    one, which the thread takes for the duplicate that it is, or answers if it was busy before. Raises Refused,
    Unsendable (both for good), QueueUnavailable (it may or may not have arrived: send it again).
    """
    body = body_of(message)
    taken = parse_input(body, Envelope(message.message_id, message.thread_id))
    if fault := body_fault(body):
        raise Refused("invalid", f"body: {fault}")
    sent_as = digest("client", message.thread_id, message.message_id, sending)
    unsent = await dispatcher.send([Outgoing(sent_as, INPUT, body, message.thread_id)])
    for one in unsent:
        raise (Unsendable if one.permanent else QueueUnavailable)(f"to the input queue: {one.reason}")
    return Sent(taken.body_digest, now)
