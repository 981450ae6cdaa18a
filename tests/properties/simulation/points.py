"""Points: where an invocation is held up. Every port call has one before its effect and one after it.

At an asynchronous port the invocation waits at a `Gate` until the schedule lets it on, so others run in between, a
crash is a gate that never opens, and a late awakening one that opens when a successor is done. Synchronous ports
cannot wait: the schedule decides on the spot, and a crash there is an exception that no product code can catch.
"""

import asyncio
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, TypeVar

T = TypeVar("T")
Stage = Literal["before", "after"]
Faults = Mapping[str, Callable[[], Exception]]
"""What a call can raise at a point, by the name of the fault."""
NONE: Faults = {}


class Crash(BaseException):
    """The invocation is gone. Not an Exception, so that nothing but the simulator sees it."""


@dataclass(frozen=True, slots=True)
class PortFaults:
    """What can go wrong with a call: before it had its effect, and after, when the outcome is unknown."""

    before: Faults = field(default_factory=dict)
    after: Faults = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """An invocation waiting at one point."""

    who: "Invocation"
    call: str
    """The port call, such as `store.commit`."""
    stage: Stage
    place: str
    """The call with its number within the invocation, and the stage: `store.commit#2 after`."""
    faults: Faults
    opened: "asyncio.Future[None]"

    def __str__(self) -> str:
        return f"{self.who.name} {self.place}"


class Schedule(Protocol):
    """Who decides what happens at points."""

    def wait_at(self, gate: Gate) -> None:
        """Keep the gate until it is opened, or for ever."""
        ...

    def pass_at(self, who: "Invocation", call: str, place: str, faults: Faults) -> None:
        """Returns if the invocation goes on at once. Raises Crash, or one of the faults."""
        ...


Life = Literal["running", "stalled", "dead", "done"]


@dataclass(slots=True, eq=False)
class Invocation:
    """One run of a Lambda function."""

    name: str
    """The function and a number: `agent#3`."""
    function: str
    schedule: Schedule
    life: Life = "running"
    left_seconds: Callable[[], float] = lambda: math.inf
    given: tuple[str, ...] = ()
    """Bodies of its records."""
    deployment: int = 0
    """Which one it is of, counted from 0."""
    visits: list["Visit"] = field(default_factory=list)
    """Its loads so far: several, if a race was lost or the records are of several threads."""
    _calls: dict[str, int] = field(default_factory=dict)

    async def call(
        self, name: str, effect: Callable[[], Awaitable[T]], faults: PortFaults = PortFaults()
    ) -> T:
        """Make one port call, held up before and after its effect."""
        number = self._number(name)
        await self.hold(name, "before", number, faults.before)
        result = await effect()
        await self.hold(name, "after", number, faults.after)
        return result

    async def hold(self, name: str, stage: Stage, number: int | None = None, faults: Faults = NONE) -> None:
        """Wait at one point. Who is dead waits for ever."""
        number = self._number(name) if number is None else number
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.life != "dead":
            self.schedule.wait_at(Gate(self, name, stage, f"{name}#{number} {stage}", faults, opened))
        await opened
        if self.life == "dead":
            await asyncio.Future()

    def call_now(self, name: str, effect: Callable[[], T], faults: PortFaults = PortFaults()) -> T:
        """Make one synchronous port call."""
        number = self._number(name)
        self._pass(name, f"{name}#{number} before", faults.before)
        result = effect()
        self._pass(name, f"{name}#{number} after", faults.after)
        return result

    def _pass(self, name: str, place: str, faults: Faults) -> None:
        if self.life == "dead":
            raise Crash
        self.schedule.pass_at(self, name, place, faults)

    async def die(self) -> None:
        """The process is killed here and now, as by running out of memory."""
        self.life = "dead"
        await asyncio.Future()

    def _number(self, name: str) -> int:
        self._calls[name] = self._calls.get(name, 0) + 1
        if (visit := VISIT.get()) is not None:
            visit.calls[name] += 1
        return self._calls[name]


@dataclass(slots=True, eq=False)
class Visit:
    """What an invocation does with one thread, from one load to the next. Records of other threads run beside it."""

    number: int
    """Of the load, counted over the run."""
    accepted_at: datetime | None = None
    """When it first looked at the clock."""
    attempt: int = 0
    """Of its last completion; 0: it made none."""
    tokens: int = 0
    """What its last finished completion cost, unless that chose a route."""
    routing_attempt: int = 0
    """Of its last choice of a route."""
    routing_tokens: int = 0
    """What it cost."""
    calls: Counter[str] = field(default_factory=Counter)
    """How often each port call was made."""


CURRENT: ContextVar[Invocation] = ContextVar("CURRENT")
"""The invocation that the running code belongs to: for tools, which get no ports."""
VISIT: ContextVar[Visit | None] = ContextVar("VISIT", default=None)
"""The visit that the running code belongs to, if it has loaded a thread."""
