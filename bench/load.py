"""Many threads at once on the local stack: every message twice, workers and agents that die, children.

Drained, not live: the clock stands still until nothing is left to do, so a run is the same each time and bounded.
`tests/cost/test_load.py` holds what is left of it to nothing; `make bench` prints what it took.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, Self

from bench.load_app import SPEC
from infra.local import LocalTorpor

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = 86_400
MESSAGES = ("child", "look", "hello", "look")
"""What threads are told, in turn: to spawn a child, to call a worker, nothing in particular."""
WAVE = 50
"""Threads at once; the emulator takes longer for a message the more there are in its queue."""
NAME = "load"
"""With which the threads' ids begin."""


class Died(BaseException):
    """The process is gone: nothing after this runs."""


@dataclass
class Deaths:
    """Each so manyth request that passes a point ends its invocation, after it took effect."""

    every: int | None
    met: int = 0
    died: int = 0

    def maybe(self) -> None:
        """Die, if it is time."""
        self.met += 1
        if self.every is not None and self.met % self.every == 0:
            self.died += 1
            raise Died


@dataclass(frozen=True)
class _DiesAfter:
    """A port whose method `name` may be the last thing that is done."""

    port: Any
    name: str
    deaths: Deaths

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.port, name)
        if name != self.name:
            return method
        return self._awaited(method) if name == "commit" else self._called(method)

    def _awaited(self, method: Any) -> Any:
        async def run(*arguments: Any, **more: Any) -> Any:
            result = await method(*arguments, **more)
            self.deaths.maybe()
            return result

        return run

    def _called(self, method: Any) -> Any:
        def run(*arguments: Any, **more: Any) -> Any:
            result = method(*arguments, **more)
            self.deaths.maybe()
            return result

        return run


@dataclass
class _Phases:
    """In place of the metrics' lines: keeps what each slice took."""

    slices: list[dict[str, float]]

    def of_slice(self, numbers: Any) -> Iterator[str]:
        model = sum(one.span.seconds for one in numbers.tries)
        self.slices.append({**numbers.seconds_by_phase, "model": model, "slice": numbers.span.seconds})
        return iter(())


class Load:
    """A local stack, and what a run did on it. A context manager. `…_dies_every` so many commits, or finished runs."""

    def __init__(self, *, worker_dies_every: int | None = None, agent_dies_every: int | None = None) -> None:
        self.agents, self.workers = Deaths(agent_dies_every), Deaths(worker_dies_every)
        self.seconds, self.in_time = 0.0, 0
        """Until every thread was answered, and how many slices that took; the rest are deadlines that passed."""
        self.slices: list[dict[str, float]] = []
        """Seconds by phase, and of the whole `slice`, each."""
        self.local = LocalTorpor(app=SPEC, start=START, wrap_ports=self.wrap)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.local.close()

    def wrap(self, function: str, container: Any) -> Any:
        """As `infra.local.WrapPorts`."""
        if function == "agent":
            telemetry = replace(container.telemetry, lines=_Phases(self.slices))
            store = _DiesAfter(container.ports.store, "commit", self.agents)
            return replace(container, telemetry=telemetry, ports=replace(container.ports, store=store))
        if function.startswith("worker:"):
            answering = container.worker.answering
            records = _DiesAfter(answering.records, "finish", self.workers)
            dying = replace(container.worker, answering=replace(answering, records=records))
            return replace(container, worker=dying)
        return container

    def run(self, threads: int) -> None:
        """Every thread gets a message, twice; then all is done that there is to do, and every deadline passes."""
        began = perf_counter()
        for first in range(0, threads, WAVE):
            for number in range(first, min(first + WAVE, threads)):
                self._say(number, told(number))
            self.local.drain(most_invocations=100 * WAVE)
            self.local.outputs()
        self.seconds, self.in_time = perf_counter() - began, len(self.slices)
        self.local.advance(seconds=DAY)

    def _say(self, number: int, what: str) -> None:
        body = {"type": "user_message", "thread_id": thread_name(number), "message_id": f"{what}-{number}"}
        for _ in range(2):
            self.local.send({**body, "content": f"{what} word{number}"})

    def percentile(self, phase: str, share: float) -> float:
        """Seconds that so large a share of the slices took at most."""
        taken = sorted(one.get(phase, 0.0) for one in self.slices)
        return taken[min(len(taken) - 1, int(share * len(taken)))]


def told(number: int) -> str:
    """How the message to the thread of that number begins."""
    return MESSAGES[number % len(MESSAGES)]


def thread_name(number: int) -> str:
    return f"{NAME}-{number:04}"
