"""Sending a parked body again: what is sent, under which ids, and in whose name. Pure.

It keeps its `message_id`, so that what was taken in after all is a duplicate, and gets a deduplication id of its own,
so that the queue does not take it for the first sending. An input is sent in its first sender's name: the agent checks
that one (docs/security.md, "Sent again"), so a forged message is refused again.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from core.clock import iso
from core.delivery import DELAY, INPUT
from core.errors import MisuseError, Refused
from core.ids import digest
from core.messages import Envelope
from core.parsing import parse_input
from core.ports import Outgoing, ParkedBody
from core.relay import relayed
from core.senders import FIRST_SENDER
from core.text import wire_json
from infra.operations.parked import KeptBody
from infra.scheduler.dead_letters import message_in
from infra.store_rules import MARKER_LIFETIME

KNOWN_AGAIN = MARKER_LIFETIME - timedelta(days=28)
"""After its first sending a body may be sent again for so long: it can wait for 28 days more, and markers go after 60
(invariant *once*)."""
_VOUCH = "--vouch sends it as the operator's own word: read it first (`torpor dlq show`)"


@dataclass(frozen=True, slots=True)
class Redriven:
    """A message ready to send."""

    message: Outgoing
    attributes: Mapping[str, str] = field(default_factory=dict)


def redriven(kept: KeptBody, now: datetime, *, vouched: bool) -> Redriven:
    """What sending it again means. `vouched`: not its sender's word any more, but that of whoever redrives it.

    Raises MisuseError where it would only be parked again, or where nobody is known whose word it is.
    """
    parked = kept.parked
    if kept.gone:
        raise MisuseError(f"{kept.id}: its body is no longer stored; all that is left is to drop it")
    try:
        if parked.source == INPUT:
            return _input(kept, now, vouched)
        if parked.source == DELAY:
            passed_on = relayed(message_in(parked.body), parked.message_id, now)
            return Redriven(Outgoing(passed_on.id, DELAY, passed_on.body, due_at=passed_on.due_at))
    except Refused as refusal:
        raise MisuseError(
            f"{kept.id}: it would be refused again ({refusal.reason}): send a right one in its place, and drop it"
        ) from refusal
    return Redriven(Outgoing(digest("redriven", kept.id, iso(now)), parked.source, parked.body))


def _input(kept: KeptBody, now: datetime, vouched: bool) -> Redriven:
    parked = kept.parked
    body = _with_message_id(parked)
    taken = parse_input(body, Envelope(parked.message_id, group=None))
    if now - parked.first_seen > KNOWN_AGAIN and not vouched:
        raise MisuseError(
            f"{kept.id}: it was first seen on {parked.first_seen:%Y-%m-%d}, so long ago that its thread may not know "
            f"it again if it took it in. {_VOUCH}"
        )
    if parked.sender is None and not vouched:
        raise MisuseError(f"{kept.id}: it is not known who sent it. {_VOUCH}")
    # A person's act at an instant: trying once more is another act, which the queue must not take for this one.
    sent_as = digest("redriven", kept.id, iso(now))
    named = {} if vouched or parked.sender is None else {FIRST_SENDER: parked.sender}
    return Redriven(Outgoing(sent_as, INPUT, body, taken.message.thread_id), named)


def _with_message_id(parked: ParkedBody) -> str:
    """The body under the id that it was known by, which may have been the queue's to give."""
    try:
        value = json.loads(parked.body)
    except (ValueError, RecursionError):
        return parked.body
    if not isinstance(value, dict) or value.get("message_id") is not None:
        return parked.body
    return wire_json({**value, "message_id": parked.message_id})
