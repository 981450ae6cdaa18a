"""One record of the input queue: parsed, then taken to its thread in one slice. Shared by agent and dead letters."""

from collections.abc import Sequence
from dataclasses import replace

from core.correlation import correlation_taken
from core.errors import Refused
from core.ids import is_thread_id
from core.messages import Envelope, Input
from core.parsing import parse_input, thread_of
from core.senders import whose_word
from core.slice import SliceReport, run_slice
from core.slice.refuse import RefusedBody, refuse
from handlers.agent_container import AgentContainer
from handlers.logs import logger
from handlers.records import QueueRecord
from handlers.watch import SliceWatch, WatchedModel


async def visit(record: QueueRecord, container: AgentContainer, *, completing: bool) -> str:
    """Run the slice of one input, or refuse it; returns the action for the log. Raises if it must come again."""
    try:
        taken = parse_input(record.body, envelope_of(record, container))
    except Refused as refusal:
        await refuse_record(record, container, refusal)
        return "refused"
    report = await _slice(taken, container, completing)
    _log_lost(report.lost_outputs)
    (result,) = report.inputs
    if not isinstance(result, Refused):
        return result
    if result.code == "forbidden":
        _log_forbidden(record, taken)
    return "closed" if result.code == "closed" else "refused"


async def _slice(taken: Input, container: AgentContainer, completing: bool) -> SliceReport:
    thread_id, ports = taken.message.thread_id, container.ports
    watching = SliceWatch(container.telemetry, container.observer, thread_id, correlation_taken(taken, None))
    with watching as watch:
        return await run_slice(
            container.app,
            replace(ports, models=lambda name: WatchedModel(ports.models(name), watch), witness=watch),
            thread_id,
            [taken],
            seconds_left=container.time_left.seconds,
            observer=watch,
            completing=completing,
            senders=container.senders,
        )


def envelope_of(record: QueueRecord, container: AgentContainer) -> Envelope:
    """What the queue said about the record, and whose word it is."""
    sender = whose_word(container.senders, record.sender, record.first_sender)
    return Envelope(record.message_id, record.group, sender, record.sent_at, record.correlation_id)


async def refuse_record(record: QueueRecord, container: AgentContainer, refusal: Refused) -> None:
    """Park the body and tell the thread that it names, or else its group."""
    thread_id, message_id = thread_of(record.body)
    if thread_id is None and record.group is not None and is_thread_id(record.group):
        thread_id = record.group
    refused = RefusedBody(
        refusal=refusal,
        message_id=message_id or record.message_id,
        body=record.body,
        thread_id=thread_id,
        sent_at=record.sent_at,
        sender=envelope_of(record, container).sender,
    )
    _log_lost(await refuse(container.ports, refused))


def _log_forbidden(record: QueueRecord, taken: Input) -> None:
    """The line that an alarm counts, at every log level: somebody says what is not theirs to say."""
    logger().error(
        "a sender may not send this",
        action="forbidden",
        sender=record.sender,
        message_type=taken.message.type,
        message_id=taken.message_id,
        thread_id=taken.message.thread_id,
    )


def _log_lost(output_ids: Sequence[str]) -> None:
    if output_ids:
        logger().error("outputs can never be sent", action="lost_output", output_ids=output_ids)
