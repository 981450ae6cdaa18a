"""Lambda entry point of the sweeper: reads the table's stream and takes away what has expired (storage.md).

The stream says which thread's tip has gone; `core/erasing.py` says whether that is the end of it.
"""

import os
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from typing import Any, assert_never

from core.clock import SYSTEM_CLOCK
from core.erasing import sweep
from core.errors import RetryableError, TorporError
from core.keeping import Kept, Nothing, Outcome, Removed
from handlers.batch import attempted
from handlers.bootstrap import RemainingMs
from handlers.logs import error_fields, logger
from handlers.sweeper_container import SweeperContainer, build_sweeper_container
from infra.dynamodb.keys import TIP, thread_of

LOOK_AGAIN = timedelta(days=1)
"""After a sweep that failed."""


@cache
def _container() -> SweeperContainer:
    return build_sweeper_container(os.environ, SYSTEM_CLOCK)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """As Lambda calls it."""
    return handle(event, _container(), context.get_remaining_time_in_millis)


def handle(event: dict[str, Any], container: SweeperContainer, remaining_ms: RemainingMs) -> dict[str, Any]:
    """The partial batch response for one event of a stream: from the first record on that may work in a moment, all
    come again.
    """
    container.time_left.starts(remaining_ms)
    try:
        return container.loop.run(handle_event(event, container))
    finally:
        container.time_left.ends()


async def handle_event(event: dict[str, Any], container: SweeperContainer) -> dict[str, Any]:
    """`handle` inside a running event loop."""
    for record in event["Records"]:
        thread_id = _expired(record)
        if thread_id is not None and not await _succeeds(thread_id, container):
            return {"batchItemFailures": [{"itemIdentifier": record["dynamodb"]["SequenceNumber"]}]}
    return {"batchItemFailures": []}


def _expired(record: Mapping[str, Any]) -> str | None:
    """The thread whose tip has gone; None for any other change."""
    keys = record["dynamodb"]["Keys"]
    gone = record["eventName"] == "REMOVE" and keys["sk"]["S"] == TIP
    return thread_of(keys["pk"]["S"]) if gone else None


async def _succeeds(thread_id: str, container: SweeperContainer) -> bool:
    """False: the record is to come again. The stream keeps it for a day and holds up all others meanwhile, so that a
    thread which cannot be swept for good would cost others their end: it expires once more instead.
    """
    done = await attempted(sweep(container.store, thread_id, container.clock, container.retention))
    match done:
        case RetryableError():
            logger().warning("sweep comes again", action="retry", thread_id=thread_id, **error_fields(done))
            await _looked_at_again(thread_id, container)
            return False
        case Exception():
            logger().error("thread not swept", action="fail", thread_id=thread_id, **error_fields(done))
            return await _looked_at_again(thread_id, container)
        case outcomes:
            for outcome in outcomes:
                _tell(outcome)
            return True


async def _looked_at_again(thread_id: str, container: SweeperContainer) -> bool:
    """Whether the thread will expire again."""
    try:
        await container.store.look_again(thread_id, container.clock.now() + LOOK_AGAIN)
    except TorporError as error:
        logger().warning(
            "thread not looked at again", action="retry", thread_id=thread_id, **error_fields(error)
        )
        return False
    return True


def _tell(outcome: Outcome) -> None:
    match outcome:
        case Removed(thread_id=thread_id, cleared=cleared):
            logger().info(
                "thread erased",
                action="erased",
                thread_id=thread_id,
                commits=cleared.commits,
                payloads=cleared.payloads,
            )
        case Kept(thread_id=thread_id, reason=reason):
            logger().info("thread left", action="left", thread_id=thread_id, reason=reason)
        case Nothing(thread_id=thread_id):
            logger().info("no such thread", action="left", thread_id=thread_id)
        case _:
            assert_never(outcome)
