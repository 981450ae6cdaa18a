"""Lambda entry point of the agent: takes the input queue's records (FIFO) to their threads."""

import os
from functools import cache
from typing import Any

from core.clock import SYSTEM_CLOCK
from handlers.agent_container import AgentContainer, build_agent_container
from handlers.batch import run_batch
from handlers.bootstrap import RemainingMs
from handlers.records import QueueRecord, records_of
from handlers.visit import visit


@cache
def _container() -> AgentContainer:
    return build_agent_container(os.environ, SYSTEM_CLOCK)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """As Lambda calls it."""
    return handle(event, _container(), context.get_remaining_time_in_millis)


def handle(event: dict[str, Any], container: AgentContainer, remaining_ms: RemainingMs) -> dict[str, Any]:
    """The partial batch response for one event. Failed records are made visible again soon."""
    container.time_left.starts(remaining_ms)
    try:
        return container.loop.run(handle_event(event, container))
    finally:
        container.time_left.ends()


async def handle_event(event: dict[str, Any], container: AgentContainer) -> dict[str, Any]:
    """`handle` inside a running event loop."""

    async def process(record: QueueRecord) -> str:
        return await visit(record, container, completing=True)

    response = await run_batch(event, process, container.senders)
    failed = {item["itemIdentifier"] for item in response["batchItemFailures"]}
    if failed:
        again = [record for record in records_of(event) if record.message_id in failed]
        await container.records.bring_back(
            [(record.receipt_handle, record.receive_count) for record in again]
        )
    return response
