"""Messages to a stack's queues, as a person sends them: checked first, and under ids of their own."""

from typing import Any

from core.clock import Clock, iso
from core.delivery import INPUT
from core.ids import digest
from core.messages import Envelope, Input
from core.parsing import parse_input
from core.ports import Outgoing
from core.text import wire_json
from infra.sqs.sync_sender import SqsSender
from infra.stack import Stack, resources_of


def input_sender(stack: Stack, clock: Clock) -> SqsSender:
    """Sends to the input queue. Raises SettingsError."""
    return SqsSender(stack.client("sqs"), {INPUT: stack.output("InputQueueUrl")}, clock)


def queue_sender(stack: Stack, clock: Clock) -> SqsSender:
    """Sends to every queue of the stack. Raises SettingsError."""
    return SqsSender(stack.client("sqs"), resources_of(stack), clock)


def said(fields: dict[str, Any], clock: Clock) -> tuple[Outgoing, Input]:
    """A message to a thread, ready to send, and as the agent will read it. Raises Refused for what it would refuse.

    `fields` without a `message_id` get one: saying the same thing twice says it twice.
    """
    named = {name: value for name, value in fields.items() if value is not None}
    if "message_id" not in named:
        named["message_id"] = "cli-" + digest("said", named, iso(clock.now()))
    body = wire_json(named)
    taken = parse_input(body, Envelope(named["message_id"], group=None))
    # The same id with another text is a mistake that the agent must see, so it may not pass for a repetition.
    sent_as = digest("said", body)
    return Outgoing(sent_as, INPUT, body, taken.message.thread_id), taken
