"""Giving back what a child cannot take: its parent waits for an end, or for an answer, and must hear that none comes.

Sent directly, since there is no commit of the child's: under an id of the message's own, so that it is told once.
"""

from dataclasses import replace
from typing import Any

from core.correlation import correlation_sent
from core.delivery import INPUT
from core.errors import NotSettled
from core.ids import digest
from core.messages import Input, ParentMessage, Spawn, ThreadReport, Timer, Wake
from core.ports import Outgoing
from core.slice.ports import SlicePorts
from core.text import wire_json

KNOWN_ABOVE = "call"
"""Stands where the call does that a child belongs to, if only its parent can say which."""


async def give_back(ports: SlicePorts, taken: Input, reason: str) -> None:
    """Tell the parent, in the child's name, if the message is one that a parent waits for. Idempotent.

    A parent message comes back as a report; a spawn, and what a child would have gone on by, as the end of the child.
    Raises NotSettled if it cannot be sent for now.
    """
    message = taken.message
    told: dict[str, Any]
    match message:
        case ParentMessage(parent=parent, call_id=call_id, text=text):
            told = {"type": "thread_report", "call_id": call_id, "text": f"{reason}\n{text}"}
        case Spawn(ancestors=(*_, parent), child_kind="compaction"):
            told = {"type": "compaction_done", "text": None}
        case Spawn(ancestors=(*_, parent), call_id=call_id):
            told = {"type": "thread_report", "call_id": call_id, "text": reason, "closing": True}
        case Wake(parent=str(parent)) | Timer(parent=str(parent)) | ThreadReport(parent=str(parent)):
            told = {"type": "thread_report", "call_id": KNOWN_ABOVE, "text": reason, "closing": True}
        case _:
            return
    back = replace(
        _in_its_name(message.thread_id, taken.message_id, parent, told),
        correlation_id=correlation_sent(taken),
    )
    unsent = await ports.dispatcher.send([back])
    if unsent:
        raise NotSettled(f"message {taken.message_id!r} cannot be given back for now")


def _in_its_name(child_thread_id: str, message_id: str, parent: str, told: dict[str, Any]) -> Outgoing:
    told_as = digest("returned", child_thread_id, message_id)
    head = {"v": 1, "thread_id": parent, "message_id": told_as, "child_thread_id": child_thread_id}
    return Outgoing(told_as, INPUT, wire_json({**head, **told}), parent)
