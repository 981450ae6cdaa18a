"""Lambda entry point of the dead-letter queues: one function per queue that they serve, chosen by the record's ARN."""

import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Any

from core.clock import SYSTEM_CLOCK
from core.dead_calls import answer_dead_work
from core.delivery import DELAY, INPUT
from core.errors import PermanentError, Refused, RetryableError, SettingsError
from core.parsing import parse_input
from core.ports import ParkedBody
from core.relay import relayed
from core.senders import may_send
from core.slice.give_back import give_back
from handlers.agent_container import DeadLetterContainer, build_dead_letter_container
from handlers.batch import run_batch
from handlers.bootstrap import RemainingMs
from handlers.logs import write_line
from handlers.records import QueueRecord
from handlers.visit import envelope_of, refuse_record, visit
from infra.scheduler.dead_letters import message_in

PATIENCE = timedelta(days=12)
"""After its sending a dead input is left to people. Before that it is tried again, however often: one broken queue or
table must not park what is healthy. A message is kept for 14 days.
"""

LAST_RESORT = timedelta(days=13)
"""After this it is not tried any more: also a fault of ours that nobody foresaw loses nothing."""

GIVEN_UP = "This could not be delivered: every try failed."
"""What a parent is told of a message to its child."""

HandleRecord = Callable[[QueueRecord, DeadLetterContainer], Awaitable[str]]


@cache
def _container() -> DeadLetterContainer:
    return build_dead_letter_container(os.environ, SYSTEM_CLOCK)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """As Lambda calls it."""
    return handle(event, _container(), context.get_remaining_time_in_millis)


def handle(
    event: dict[str, Any], container: DeadLetterContainer, remaining_ms: RemainingMs
) -> dict[str, Any]:
    """The partial batch response for one event."""
    container.agent.time_left.starts(remaining_ms)
    try:
        return container.agent.loop.run(handle_event(event, container))
    finally:
        container.agent.time_left.ends()


async def handle_event(event: dict[str, Any], container: DeadLetterContainer) -> dict[str, Any]:
    """`handle` inside a running event loop."""

    async def process(record: QueueRecord) -> str:
        _tell(record, container)
        return await _handler_for(record, container)(record, container)

    return await run_batch(event, process, container.agent.senders)


def _tell(record: QueueRecord, container: DeadLetterContainer) -> None:
    write_line(
        logging.WARNING,
        "a message used up its tries",
        action="dead_letter",
        message_id=record.message_id,
        queue=_served(record, container),
        receive_count=record.receive_count,
        correlation_id=record.correlation_id,
    )


def _handler_for(record: QueueRecord, container: DeadLetterContainer) -> HandleRecord:
    """By the first word of the queue served: `input`, `delay`, `worker`."""
    kind = _served(record, container).partition(":")[0]
    return _BY_KIND[kind]


async def handle_input_record(record: QueueRecord, container: DeadLetterContainer) -> str:
    """An input that the agent gave up: the same slice without completion; if that fails too, it is parked and told."""
    if container.agent.ports.clock.now() - record.sent_at >= LAST_RESORT:
        return await give_up(record, container, "every try of the dead-letter handler failed")
    try:
        return await visit(record, container.agent, completing=False)
    except PermanentError as error:
        reason = f"the dead-letter handler failed too: {type(error).__name__}"
    except RetryableError:
        if container.agent.ports.clock.now() - record.sent_at < PATIENCE:
            raise
        reason = f"the dead-letter handler could not take it in for {PATIENCE.days} days"
    return await give_up(record, container, reason)


async def give_up(record: QueueRecord, container: DeadLetterContainer, reason: str) -> str:
    """Keep the body for people, and tell who waits for it: its sender, or the parent of the child it was for.

    The parent only if the message was Torpor's: it hears it in our name, and no slice looked at who sent it.
    """
    agent = container.agent
    await refuse_record(record, agent, Refused("dead_letter", reason))
    with suppress(Refused):  # what is no input has no parent
        taken = parse_input(record.body, envelope_of(record, agent))
        if may_send(agent.senders, taken.sender, taken.message.type, taken.message.thread_id, None):
            await give_back(agent.ports, taken, GIVEN_UP)
    return "parked"


async def handle_tool_call_record(record: QueueRecord, container: DeadLetterContainer) -> str:
    """A work message that its worker gave up: the call is answered, a body that nobody can answer is parked."""
    worker = _served(record, container).partition(":")[2]
    try:
        return await answer_dead_work(
            record.body, record.attempt, replace(container.answering, worker=worker)
        )
    except Refused as error:
        return await park(record, container, error.reason)


async def handle_delay_record(record: QueueRecord, container: DeadLetterContainer) -> str:
    """A wake or timer that the relay or its schedule gave up: passed on all the same, parked if that can never work."""
    body, now = message_in(record.body), container.agent.ports.clock.now()
    try:
        container.answering.sender.send(relayed(body, record.message_id, now))
    except Refused as error:
        return await park(record, container, error.reason)
    return "relayed"


async def park(record: QueueRecord, container: DeadLetterContainer, reason: str) -> str:
    """Keep the body for people (`torpor dlq`)."""
    source = _served(record, container)
    parked = ParkedBody(source, reason, record.sent_at, record.message_id, record.body, record.sender)
    await container.agent.ports.store.park(parked)
    return "parked"


def _served(record: QueueRecord, container: DeadLetterContainer) -> str:
    try:
        return container.sources[record.source_arn]
    except KeyError:
        raise SettingsError(f"TORPOR_DEAD_LETTER_QUEUES does not name {record.source_arn}") from None


_BY_KIND: dict[str, HandleRecord] = {
    INPUT: handle_input_record,
    DELAY: handle_delay_record,
    "worker": handle_tool_call_record,
}
