"""What the relay does with a message of the delay queue: pass it on when it is due, delay it again when it is not.

A queue delays for at most 900 s; what is due later goes round in steps.
"""

import re
from datetime import datetime

from core.delivery import DELAY, INPUT
from core.errors import Refused
from core.messages import Envelope, Timer, Wake
from core.parsing import parse_input
from core.ports import Outgoing

_DEDUP_ID = re.compile(r"[!-~]{1,128}")
"""The relayed message's id is its deduplication id on the input queue."""


def relayed(body: str, transport_id: str, now: datetime) -> Outgoing:
    """The message to send before this one is acknowledged, body unchanged. Early and late are harmless.

    Raises Refused for anything but a `wake` or a `timer`.
    """
    parsed = parse_input(body, Envelope(transport_id, group=None))
    message = parsed.message
    match message:
        case Wake(due_at=due_at) | Timer(due_at=due_at):
            early = due_at is not None and due_at > now
            queue = DELAY if early else INPUT
            if not _DEDUP_ID.fullmatch(parsed.message_id):
                raise Refused(
                    "invalid", "message_id: a queue takes only ASCII letters, digits and punctuation"
                )
            return Outgoing(parsed.message_id, queue, body, message.thread_id, due_at)
        case _:
            raise Refused("invalid", f"type: {message.type} does not travel through the delay queue")
