"""What a function holds for a container's whole life, built once: never at import, always from an explicit environment.

A container may be built several times in one process with its own clock and endpoint, as the local stack does.
"""

import asyncio
import math
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from core.app import load_app
from core.clock import Clock
from core.delivery import INPUT, worker_queue
from core.worker import Answering, Sender, Worker
from handlers.clients import AwsAccess, sync_clients
from handlers.settings import Environ, RelaySettings, WorkerSettings
from handlers.telemetry import Telemetry
from infra.sqs.sync_sender import SqsSender
from infra.work.dynamodb import DynamoDbWorkRecords

T = TypeVar("T")
RemainingMs = Callable[[], float]
"""Milliseconds left of the invocation, as Lambda's `context.get_remaining_time_in_millis`."""


@dataclass(slots=True)
class TimeLeft:
    """The time left of the invocation that is running. Ports built for the container ask it."""

    _remaining_ms: RemainingMs = lambda: math.inf

    def starts(self, remaining_ms: RemainingMs) -> None:
        """An invocation begins."""
        self._remaining_ms = remaining_ms

    def ends(self) -> None:
        """It is over: nothing bounds what the container is asked between invocations, as the local stack asks it."""
        self._remaining_ms = lambda: math.inf

    def seconds(self) -> float:
        """Not below 0."""
        return max(0.0, self._remaining_ms() / 1000)


@dataclass(frozen=True, slots=True)
class EventLoop:
    """One event loop for a container's life: its clients belong to it."""

    _runner: asyncio.Runner = field(default_factory=asyncio.Runner)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end. Not from inside a running loop."""
        return self._runner.run(work)

    def close(self) -> None:
        """A Lambda container never does."""
        self._runner.close()


@dataclass(frozen=True, slots=True)
class WorkerContainer:
    """Of `handlers.tool_worker`."""

    worker: Worker
    loop: EventLoop
    clients: tuple[Any, ...]
    telemetry: Telemetry

    def close(self) -> None:
        """A Lambda container never does."""
        self.loop.close()
        close_clients(self.clients)


@dataclass(frozen=True, slots=True)
class RelayContainer:
    """Of `handlers.timer_relay`."""

    sender: Sender
    clock: Clock
    loop: EventLoop
    clients: tuple[Any, ...]

    def close(self) -> None:
        """A Lambda container never does."""
        self.loop.close()
        close_clients(self.clients)


def build_worker_container(
    environ: Environ, clock: Clock, endpoint_url: str | None = None
) -> WorkerContainer:
    """Raises SettingsError, and DefinitionError for an app that cannot be loaded."""
    settings = WorkerSettings.read(environ)
    tools = load_app(settings.app).workers().get(settings.worker, {})
    sqs, dynamodb = sync_clients(AwsAccess.of(environ, endpoint_url), "sqs", "dynamodb")
    answering = Answering(
        DynamoDbWorkRecords(dynamodb, settings.work_table),
        SqsSender(sqs, {INPUT: settings.input_queue_url}, clock),
        clock,
        settings.worker,
    )
    telemetry = Telemetry.read(environ, worker_queue(settings.worker), {})
    worker = Worker(settings.worker, tools, answering)
    return WorkerContainer(worker, EventLoop(), (sqs, dynamodb), telemetry)


def build_relay_container(environ: Environ, clock: Clock, endpoint_url: str | None = None) -> RelayContainer:
    """Raises SettingsError."""
    settings = RelaySettings.read(environ)
    (sqs,) = sync_clients(AwsAccess.of(environ, endpoint_url), "sqs")
    return RelayContainer(SqsSender(sqs, settings.queue_urls, clock), clock, EventLoop(), (sqs,))


def close_clients(clients: tuple[Any, ...]) -> None:
    """Close the connections of synchronous clients."""
    for client in clients:
        client.close()
