"""Running the records of one event: each fails alone, and in a FIFO group what comes after a failure fails with it.

The per-record boundary of architecture.md: the only place in the functions that catches everything.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from core.errors import RetryableError
from core.senders import UNCHECKED, SenderPolicy
from handlers.logs import error_fields, logger
from handlers.records import QueueRecord, records_of

T = TypeVar("T")
Process = Callable[[QueueRecord], Awaitable[str]]
"""Handles one record and returns the action for the log. When it returns the record is acknowledged; when it raises,
whatever it raises, the record fails and comes again."""

KEPT_FOR_PEOPLE = frozenset({"refused", "parked"})
"""Actions after which a body waits for people. Logged at every level: an alarm counts these lines."""


async def attempted(work: Awaitable[T]) -> T | Exception:
    """What the work gives, or what it raised, whatever that is: the boundary of a record that is no queue's."""
    try:
        return await work
    except Exception as error:  # noqa: BLE001 - the per-record boundary, as below
        return error


async def run_batch(
    event: Mapping[str, Any], process: Process, senders: SenderPolicy = UNCHECKED
) -> dict[str, Any]:
    """The partial batch response. Groups, and records of standard queues, run at the same time.

    `senders`: as `records_of`.
    """
    records = records_of(event, senders)
    lanes: dict[str, list[QueueRecord]] = {}
    for record in records:
        lane = f"group {record.group}" if record.group is not None else f"message {record.message_id}"
        lanes.setdefault(lane, []).append(record)
    left = await asyncio.gather(*(_failed_of(lane, process) for lane in lanes.values()))
    failed = {record.message_id for lane in left for record in lane}
    ids = [record.message_id for record in records if record.message_id in failed]
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in ids]}


async def _failed_of(lane: Sequence[QueueRecord], process: Process) -> Sequence[QueueRecord]:
    """The records of one lane that failed: the first one that did, and all after it."""
    for position, record in enumerate(lane):
        if not await _succeeds(record, process):
            return lane[position:]
    return ()


async def _succeeds(record: QueueRecord, process: Process) -> bool:
    fields: dict[str, Any] = {
        "message_id": record.message_id,
        "group": record.group,
        "source": record.source_arn,
        "receive_count": record.receive_count,
        "body_chars": len(record.body),
        "correlation_id": record.correlation_id,
    }
    try:
        action = await process(record)
    except RetryableError as error:
        logger().warning("record left for another try", action="retry", **fields, **error_fields(error))
        return False
    except Exception as error:  # noqa: BLE001 - the per-record boundary: one bad record must not fail the others
        logger().error("record failed", action="fail", **fields, **error_fields(error))
        return False
    log = logger().error if action in KEPT_FOR_PEOPLE else logger().info
    log("record done", action=action, **fields)
    return True
