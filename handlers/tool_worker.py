"""Lambda entry point of a worker: runs the calls of its queue (standard) and answers them on the input queue."""

import os
from functools import cache
from typing import Any

from core.clock import SYSTEM_CLOCK
from handlers.batch import run_batch
from handlers.bootstrap import RemainingMs, WorkerContainer, build_worker_container
from handlers.records import QueueRecord
from handlers.watched_run import WatchedRun


@cache
def _container() -> WorkerContainer:
    return build_worker_container(os.environ, SYSTEM_CLOCK)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """As Lambda calls it."""
    return handle(event, _container(), context.get_remaining_time_in_millis)


def handle(event: dict[str, Any], container: WorkerContainer, remaining_ms: RemainingMs) -> dict[str, Any]:
    """The partial batch response for one event."""
    return container.loop.run(handle_event(event, container, remaining_ms))


async def handle_event(
    event: dict[str, Any], container: WorkerContainer, remaining_ms: RemainingMs
) -> dict[str, Any]:
    """`handle` inside a running event loop."""

    async def process(record: QueueRecord) -> str:
        with WatchedRun(container.telemetry, record) as run:
            run.result = await container.worker.handle(record.body, record.attempt, remaining_ms() / 1000)
        return run.result

    return await run_batch(event, process)
