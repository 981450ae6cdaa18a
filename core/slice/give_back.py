"""Giving back what a child cannot take: its parent waits for an end, or for an answer, and must hear that none comes.

Sent directly, since there is no commit of the child's: under an id of the message's own, so that it is told once.
"""

from typing import Any

from core.delivery import INPUT
from core.errors import NotSettled
from core.ids import digest
from core.messages import Input, ParentMessage, Spawn
from core.ports import Outgoing
from core.slice.ports import SlicePorts
from core.text import wire_json


async def give_back(ports: SlicePorts, taken: Input, reason: str) -> None:
    """Tell the parent, in the child's name, if the message is one that a parent waits for. Idempotent.

    A parent message comes back as a report, a spawn as the end of its child. Raises NotSettled if it cannot be sent
    for now.
    """
    message = taken.message
    match message:
        case ParentMessage(parent=parent, text=text):
            report: dict[str, Any] = {"text": f"{reason}\n{text}"}
        case Spawn(ancestors=(*_, parent)):
            report = {"text": reason, "closing": True}
        case _:
            return
    unsent = await ports.dispatcher.send([_report(message, taken.message_id, parent, report)])
    if unsent:
        raise NotSettled(f"message {taken.message_id!r} cannot be given back for now")


def _report(message: ParentMessage | Spawn, message_id: str, parent: str, report: dict[str, Any]) -> Outgoing:
    report_id = digest("returned", message.thread_id, message_id)
    body = {
        "v": 1,
        "type": "thread_report",
        "thread_id": parent,
        "message_id": report_id,
        "child_thread_id": message.thread_id,
        "call_id": message.call_id,
        **report,
    }
    return Outgoing(report_id, INPUT, wire_json(body), parent)
