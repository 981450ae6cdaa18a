"""A text slice on in-memory ports: what Torpor itself costs, without the network.

Loading is told apart: the memory store reads and folds the whole log each time, as a cold container does, where the
DynamoDB store of a warm container folds what is new. What else grows with the thread is the request to the model, which
holds all that no summary covers.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from statistics import median
from time import perf_counter

from core import Agent, App
from core.chunks import Chunk, Completed, TextChunk
from core.facts import Fact
from core.messages import Envelope, Input
from core.parsing import parse_input
from core.ports import Outgoing, Unsent
from core.request import ModelRequest
from core.slice import SlicePorts, run_slice
from handlers.numbers import SliceNumbers
from infra.memory import MemoryClock, MemoryStore

MEASURED = 30
THREAD = "bench"


class _Talker:
    signs_reasoning = True
    context_window = None

    async def stream(self, request: ModelRequest, *, timeout_seconds: float) -> AsyncGenerator[Chunk, None]:
        yield TextChunk(f"{len(request.messages)} messages in {timeout_seconds:.0f} s. " * 10)
        yield Completed()


class _Nowhere:
    async def send(self, messages: Sequence[Outgoing]) -> tuple[Unsent, ...]:
        return tuple(Unsent(message, "", permanent=True) for message in messages if not message.body)


def slice_seconds(turns_before: int) -> tuple[float, float]:
    """Median seconds of one text slice on a thread of that many turns, and of its load."""
    return asyncio.run(_measure(turns_before))


class _Stopwatch:
    """Takes the time of the phases."""

    def __init__(self) -> None:
        self.numbers = SliceNumbers(perf_counter())

    def hear(self, fact: Fact) -> None:
        self.numbers.hear(fact, perf_counter())


async def _measure(turns_before: int) -> tuple[float, float]:
    clock = MemoryClock(datetime(2026, 1, 1, tzinfo=UTC))
    ports = SlicePorts(MemoryStore(clock), _Nowhere(), lambda _: _Talker(), clock)
    app = App.of(Agent(name="talker", model="script:none"))
    whole, loads = [], []
    for turn in range(turns_before + MEASURED):
        watch = _Stopwatch()
        timed = replace(ports, witness=watch)
        start = perf_counter()
        await run_slice(app, timed, THREAD, [_text(turn)], seconds_left=lambda: 60.0)
        whole.append(perf_counter() - start)
        loads.append(watch.numbers.seconds_by_phase["load"])
    return median(whole[turns_before:]), median(loads[turns_before:])


def _text(turn: int) -> Input:
    body = {"type": "user_message", "thread_id": THREAD, "content": f"message {turn}"}
    return parse_input(json.dumps(body), Envelope(f"m{turn}", THREAD))
