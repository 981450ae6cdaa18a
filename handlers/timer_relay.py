"""Lambda entry point of the relay: passes due wakes and timers of the delay queue on to the input queue."""

import os
from functools import cache
from typing import Any

from core.clock import SYSTEM_CLOCK
from core.relay import relayed
from handlers.batch import run_batch
from handlers.bootstrap import RelayContainer, build_relay_container
from handlers.records import QueueRecord


@cache
def _container() -> RelayContainer:
    return build_relay_container(os.environ, SYSTEM_CLOCK)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """As Lambda calls it."""
    return handle(event, _container())


def handle(event: dict[str, Any], container: RelayContainer) -> dict[str, Any]:
    """The partial batch response for one event."""
    return container.loop.run(handle_event(event, container))


async def handle_event(event: dict[str, Any], container: RelayContainer) -> dict[str, Any]:
    """`handle` inside a running event loop."""

    async def process(record: QueueRecord) -> str:
        message = relayed(record.body, record.message_id, container.clock.now())
        container.sender.send(message)
        return f"relayed to {message.queue}"

    return await run_batch(event, process)
