"""A client of a world in memory: what it sends is delivered by the test, what it reads is counted, and while it sleeps
the test lets things happen.
"""

from collections import Counter, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Any, cast

from core.messages import Envelope, Input
from core.parsing import parse_input
from core.slice import SliceReport
from infra.client import AgentClient
from infra.log_reader import LogReader
from tests.support.inputs import THREAD
from tests.support.played import Turn
from tests.support.recording import RecordingDispatcher
from tests.support.world import World, world

Step = Callable[[], Awaitable[Any]]


class Counting:
    """Counts what a reader is asked."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self.asked: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        self.asked[name] += 1
        return getattr(self._reader, name)

    def taken(self) -> dict[str, int]:
        """What was asked since the last time."""
        asked, self.asked = dict(self.asked), Counter()
        return asked


@dataclass
class SteppingClock:
    """The world's clock. Each sleep lets one more step happen, and then the time pass."""

    world: World
    steps: deque[Step] = field(default_factory=deque)
    slept: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        return self.world.clock.now()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 3))
        if self.steps:
            await self.steps.popleft()()
        self.world.clock.advance(seconds)


@dataclass
class Talk:
    """One world, and a client of it."""

    world: World
    queue: RecordingDispatcher
    reader: Counting
    clock: SteppingClock
    client: AgentClient
    _delivered: int = 0

    def meanwhile(self, *steps: Step) -> None:
        """What happens in the next sleeps of the client."""
        self.clock.steps.extend(steps)

    def inputs(self) -> list[Input]:
        """What was sent and not delivered yet."""
        sent = self.queue.sent[self._delivered :]
        self._delivered = len(self.queue.sent)
        return [parse_input(one.body, Envelope(one.id, one.group)) for one in sent]

    async def deliver(self, *more: Input) -> SliceReport:
        """One slice over everything that was sent, and `more`."""
        return await self.world.run(*self.inputs(), *more)

    async def say(self, text: str, message_id: str, **fields: Any) -> None:
        """Send and deliver a text."""
        await self.client.send(THREAD, text, message_id, **fields)
        await self.deliver()

    def another(self) -> AgentClient:
        """A client of another process."""
        return _client(self.reader, self.queue, self.clock)


def talk(*turns: Turn, **fields: Any) -> Talk:
    """A new world whose model will play these turns, and a client of it."""
    there = world(*turns, **fields)
    queue, clock = RecordingDispatcher(there.clock), SteppingClock(there)
    reader = Counting(there.store)
    return Talk(there, queue, reader, clock, _client(reader, queue, clock))


def _client(reader: Counting, queue: RecordingDispatcher, clock: SteppingClock) -> AgentClient:
    numbers = count(1)
    return AgentClient(cast(LogReader, reader), queue, clock=clock, ids=lambda: f"id-{next(numbers)}")
