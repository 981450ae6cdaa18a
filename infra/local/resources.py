"""What the local stack creates: the queues, tables, bucket and schedule group of `template.yaml`, and which function
reads which queue.

Data only, so that a test can compare it with the template resource by resource.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from core.app import App
from core.delivery import DELAY, INPUT, OUTPUT, worker_queue
from core.worker import RESERVE_SECONDS
from infra.dynamodb.keys import TIP

AGENT, RELAY, DEAD_LETTERS, SWEEPER = "agent", "relay", "dead_letters", "sweeper"
AGENT_TIMEOUT_SECONDS = 120
RELAY_TIMEOUT_SECONDS = 30
DEAD_LETTERS_TIMEOUT_SECONDS = 60
WORKER_TIMEOUT_SECONDS = 90
"""Of a worker whose tools all end within it; a slower tool's worker gets what that takes."""
VISIBILITY_PER_TIMEOUT = 6
"""AWS's advice for event sources: a visibility timeout of six times the function's."""
SWEEPER_TIMEOUT_SECONDS = 300
OUTPUT_VISIBILITY_SECONDS = 30
SWEEPER_FAILURES_VISIBILITY_SECONDS = 30
RETENTION_SECONDS = 14 * 24 * 3600
MAX_RECEIVE_COUNT = 5
RELAY_BATCH_SIZE = 10
SWEEPER_BATCH_SIZE = 10
SWEEPER_TRIES = 100
"""Again after a failure; then the queue for people is told."""


@dataclass(frozen=True, slots=True)
class QueueSpec:
    """One queue."""

    name: str
    """As in outboxes: `input`, `delay`, `worker:<name>`; a dead-letter queue's ends in `-dead`."""
    visibility_timeout_seconds: int
    fifo: bool = False
    """FIFO queues deduplicate per message group, and limit throughput per group."""
    dead_letters: str | None = None

    @property
    def attributes(self) -> dict[str, str]:
        """As CreateQueue takes them, the redrive policy apart: it needs an ARN."""
        fifo = {
            "FifoQueue": "true",
            "DeduplicationScope": "messageGroup",
            "FifoThroughputLimit": "perMessageGroupId",
        }
        return {
            "VisibilityTimeout": str(self.visibility_timeout_seconds),
            "MessageRetentionPeriod": str(RETENTION_SECONDS),
            **(fifo if self.fifo else {}),
        }


@dataclass(frozen=True, slots=True)
class TableSpec:
    """One table, on demand, with string keys."""

    name: str
    hash_key: str
    range_key: str | None = None
    ttl_attribute: str = "expires_at"
    stream: str | None = None
    """The stream's view type."""


@dataclass(frozen=True, slots=True)
class StreamSpec:
    """A table whose stream a function reads."""

    function: str
    table: str
    failures: str
    """The queue that is told what could not be handled."""
    batch_size: int
    tries: int
    keys: str
    """The sort key of the removed items that it is given."""


@dataclass(frozen=True, slots=True)
class EventSourceSpec:
    """A queue that a function reads."""

    function: str
    queue: str
    batch_size: int = 1


THREAD_TABLE = TableSpec("threads", hash_key="pk", range_key="sk", stream="KEYS_ONLY")
WORK_TABLE = TableSpec("work", hash_key="pk")
TABLES = (THREAD_TABLE, WORK_TABLE)
SWEEPER_FAILURES = f"{SWEEPER}-dead"
STREAM = StreamSpec(SWEEPER, THREAD_TABLE.name, SWEEPER_FAILURES, SWEEPER_BATCH_SIZE, SWEEPER_TRIES, TIP)
BUCKET = "payloads"
SCHEDULE_GROUP = "schedules"

WorkerTimeouts = Mapping[str, int]
"""Seconds by worker name."""


def worker_timeouts(app: App) -> WorkerTimeouts:
    """Of the functions of an app's workers: RESERVE_SECONDS over the longest of its tools' at least."""
    return {
        worker: max(
            WORKER_TIMEOUT_SECONDS,
            math.ceil(max(tool.timeout_seconds for tool in tools.values()) + RESERVE_SECONDS),
        )
        for worker, tools in app.workers().items()
    }


def dead_letters_of(queue: str) -> str:
    """The name of a queue's dead-letter queue."""
    return f"{queue}-dead"


def queues(workers: WorkerTimeouts) -> tuple[QueueSpec, ...]:
    """Every queue of an app with these workers; a dead-letter queue stands before the one it serves."""
    return (
        *_with_dead_letters(INPUT, AGENT_TIMEOUT_SECONDS, fifo=True),
        QueueSpec(OUTPUT, OUTPUT_VISIBILITY_SECONDS, fifo=True),
        *_with_dead_letters(DELAY, RELAY_TIMEOUT_SECONDS),
        QueueSpec(SWEEPER_FAILURES, SWEEPER_FAILURES_VISIBILITY_SECONDS),
        *(
            spec
            for worker, timeout_seconds in workers.items()
            for spec in _with_dead_letters(worker_queue(worker), timeout_seconds)
        ),
    )


def _with_dead_letters(name: str, timeout_seconds: int, *, fifo: bool = False) -> tuple[QueueSpec, QueueSpec]:
    dead = dead_letters_of(name)
    return (
        QueueSpec(dead, VISIBILITY_PER_TIMEOUT * DEAD_LETTERS_TIMEOUT_SECONDS, fifo),
        QueueSpec(name, VISIBILITY_PER_TIMEOUT * timeout_seconds, fifo, dead),
    )


def served_queues(workers: WorkerTimeouts) -> tuple[str, ...]:
    """The queues that a function reads and that have a dead-letter queue."""
    return (INPUT, DELAY, *map(worker_queue, workers))


def event_sources(workers: WorkerTimeouts, *, batch_size: int = 1) -> tuple[EventSourceSpec, ...]:
    """Who reads what. `batch_size`: inputs the agent function takes at a time."""
    return (
        EventSourceSpec(AGENT, INPUT, batch_size),
        *(EventSourceSpec(worker_queue(worker), worker_queue(worker)) for worker in workers),
        EventSourceSpec(RELAY, DELAY, RELAY_BATCH_SIZE),
        *(EventSourceSpec(DEAD_LETTERS, dead_letters_of(queue)) for queue in served_queues(workers)),
    )


def function_timeouts(workers: WorkerTimeouts) -> dict[str, int]:
    """Seconds by function: `agent`, `relay`, `dead_letters`, `sweeper`, `worker:<name>`."""
    return {
        AGENT: AGENT_TIMEOUT_SECONDS,
        RELAY: RELAY_TIMEOUT_SECONDS,
        DEAD_LETTERS: DEAD_LETTERS_TIMEOUT_SECONDS,
        SWEEPER: SWEEPER_TIMEOUT_SECONDS,
        **{worker_queue(worker): seconds for worker, seconds in workers.items()},
    }
