"""What threads cost that only sleep, on in-memory ports: rows of the table and schedules, and nothing in any queue."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter

from core import Agent, App
from core.chunks import CallChunk, Chunk, Completed
from core.commit import commit_text
from core.delivery import DELAY, INPUT, OUTPUT
from core.messages import Envelope, Input
from core.parsing import parse_input
from core.request import ModelRequest
from core.slice import SlicePorts, run_slice
from core.text import wire_json
from infra.memory import (
    MemoryClock,
    MemoryDispatcher,
    MemoryQueues,
    MemorySchedules,
    MemoryStore,
    QueueSettings,
)

WEEK_SECONDS = 7 * 86_400


@dataclass(frozen=True, slots=True)
class Asleep:
    """What so many sleeping threads are."""

    commit_bytes: int
    """Of all commits, as JSON text."""
    commits: int
    schedules: int
    messages: int
    """In all queues together."""
    seconds_each: float
    """To fall asleep."""


class _Sleeper:
    signs_reasoning = True
    context_window = None

    async def stream(
        self,
        request: ModelRequest,  # noqa: ARG002 - the port's signature
        *,
        timeout_seconds: float,  # noqa: ARG002
    ) -> AsyncGenerator[Chunk, None]:
        yield CallChunk("sleep", {"seconds": WEEK_SECONDS})
        yield Completed()


def put_to_sleep(threads: int) -> Asleep:
    """So many threads, each told to sleep for a week, an hour before that week is over."""
    return asyncio.run(_measure(threads))


async def _measure(threads: int) -> Asleep:
    clock = MemoryClock(datetime(2026, 1, 1, tzinfo=UTC))
    store, queues = MemoryStore(clock), MemoryQueues(clock)
    for name in (INPUT, OUTPUT, DELAY):
        queues.create(name, QueueSettings(fifo=name != DELAY))
    schedules = MemorySchedules(queues, clock)
    dispatcher, model = MemoryDispatcher(queues, schedules, clock), _Sleeper()
    ports = SlicePorts(store, dispatcher, lambda _: model, clock)
    app = App.of(Agent(name="sleeper", model="script:none"))
    start = perf_counter()
    for number in range(threads):
        await run_slice(app, ports, f"t{number}", [_text(f"t{number}")], seconds_left=lambda: 60.0)
    seconds = perf_counter() - start
    clock.advance(WEEK_SECONDS - 3_600)
    schedules.fire_due()
    commits = [commit for number in range(threads) for commit in store.commits(f"t{number}")]
    return Asleep(
        commit_bytes=sum(len(commit_text(commit)) for commit in commits),
        commits=len(commits),
        schedules=len(schedules.pending()),
        messages=sum(queues.count(name) for name in (INPUT, OUTPUT, DELAY)),
        seconds_each=seconds / threads,
    )


def _text(thread_id: str) -> Input:
    body = {"type": "user_message", "thread_id": thread_id, "content": "sleep for a week"}
    return parse_input(wire_json(body), Envelope("m1", thread_id))
