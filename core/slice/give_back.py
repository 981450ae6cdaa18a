"""Giving a parent message back: a child that is closed or unknown cannot take it, and its parent must hear that."""

from core.delivery import INPUT
from core.errors import NotSettled, Returned
from core.ids import digest
from core.messages import Input, ParentMessage
from core.ports import Outgoing
from core.slice.ports import SlicePorts
from core.text import wire_json


async def give_back(ports: SlicePorts, taken: Input, returned: Returned) -> None:
    """Send the parent a report in the child's name. Idempotent: the same message always comes back as the same one.

    Raises NotSettled if it cannot be sent for now.
    """
    message = taken.message
    if not isinstance(message, ParentMessage):
        return
    report_id = digest("returned", message.thread_id, taken.message_id)
    body = {
        "v": 1,
        "type": "thread_report",
        "thread_id": message.parent,
        "message_id": report_id,
        "child_thread_id": message.thread_id,
        "call_id": message.call_id,
        "text": f"{returned}\n{message.text}",
    }
    unsent = await ports.dispatcher.send([Outgoing(report_id, INPUT, wire_json(body), message.parent)])
    if unsent:
        raise NotSettled(f"message {taken.message_id!r} cannot be given back for now")
