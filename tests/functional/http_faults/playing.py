"""A scenario of the simulation on the local stack: the functions' requests go through a proxy, each run has threads of
its own, and the client speaks when the scenario says.
"""

from collections import Counter, deque
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from core.errors import RetryableError
from core.fork import fork
from core.messages import InputKey
from core.ports import LoadedThread
from infra.local.clock import LocalClock
from infra.local.given import spec_of
from infra.local.resources import AGENT, dead_letters_of, served_queues
from infra.local.system import System
from tests.properties.simulation.points import CURRENT, Faults, Gate, Invocation
from tests.properties.simulation.scenario import THREAD, Say, Scenario, Situation
from tests.properties.simulation.tools import RAN
from tests.properties.simulation.tree_scenarios import FORKED

from .ends import End, end_of
from .faults import Plan, Strike
from .patience import try_again_at_once
from .proxy import proxy_to

START = datetime(2026, 1, 1, tzinfo=UTC)
MOST_STEPS = 500
"""Of a run: one that takes more never comes to rest."""
REST = timedelta(days=1)
"""Nothing of a run waits for so long."""


@dataclass(frozen=True)
class Played:
    """What a run came to."""

    end: End
    asked: Counter[str]
    """How often functions made each request."""
    struck: int
    marked: frozenset[str]
    """What the client said and the store remembers to have taken in."""
    left_over: tuple[str, ...]
    """What nobody will ever see to."""


class Stage:
    """One stack, for all runs of a scenario."""

    def __init__(self, scenario: Scenario, folder: Path, opened: ExitStack) -> None:
        self.scenario, self.plan = scenario, Plan()
        self._numbers = count(1)
        script = folder / f"{scenario.name}.json"
        script.write_text(scenario.script.model_dump_json(exclude_unset=True))
        self.system = System(
            spec_of(scenario.app),
            f"script:{script}",
            LocalClock(START),
            wrap_ports=_prepared,
            log_level="CRITICAL",
            via=lambda url: opened.enter_context(proxy_to(url, self.plan)),
        )
        opened.callback(self.system.close)

    def play(self, strike: Strike | None = None) -> Played:
        """The whole scenario, until nothing is left to do."""
        number, seen = next(self._numbers), len(self.system.outputs())
        run = _Run(self.system, self.plan, {THREAD: f"root-{number:04}", FORKED: f"fork-{number:04}"}, seen)
        self.plan.aim(strike)
        run.drive(deque(self.scenario.says))
        with self.plan.looking_away():
            groups = sorted(self.plan.groups)
            histories = {thread_id: self.system.history(thread_id) for thread_id in groups}
            threads = {thread_id: run.loaded(thread_id) for thread_id in groups}
        roots = {thread_id: name for name, thread_id in run.names.items()}
        return Played(
            end_of(roots, histories, run.outputs()),
            Counter(self.plan.asked),
            self.plan.struck,
            frozenset(key.message_id for loaded in threads.values() for key in loaded.markers),
            tuple(one for thread_id, loaded in threads.items() for one in _left_of(thread_id, loaded)),
        )

    def left_over(self) -> list[str]:
        """What all runs together have left in queues, schedules and the pile of parked bodies."""
        system, queues = self.system, self.system.resources.queues
        kinds = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
        described = {name: system.resources.describe_queue(name) for name in queues}
        filled = [name for name in queues if any(described[name][kind] != "0" for kind in kinds)]
        dead = [dead_letters_of(name) for name in served_queues(system.workers)]
        died = [name for name in dead if system.emulator.arrivals.count(queues[name].sqs_name)]
        return [*filled, *died, *map(str, system.emulator.schedules.there()), *map(str, system.parked())]


@dataclass
class _Run:
    system: System
    plan: Plan
    names: dict[str, str]
    """The ids of this run's root threads, by those of the scenario."""
    seen: int
    """Outputs that came before it."""
    begun: frozenset[str] = frozenset()
    said: list[InputKey] = field(default_factory=list)

    def outputs(self) -> list[dict[str, Any]]:
        return self.system.outputs()[self.seen :]

    def drive(self, says: deque[Say]) -> None:
        """Go on until nothing is left to do."""
        for _ in range(MOST_STEPS):
            if says and says[0].when(self._situation(quiet=False)):
                self._say(says.popleft())
            elif self._step():
                continue
            elif says and says[0].when(self._situation(quiet=True)):
                self._say(says.popleft())
            elif not self._wait():
                assert not says, f"nothing came that the client waits for; it has yet to say {says[0].body}"
                return
        raise AssertionError(f"never stuck: no rest after {MOST_STEPS} steps")

    def loaded(self, thread_id: str) -> LoadedThread:
        """As the next slice would, with what the client says coming again."""

        def load(container: Any) -> LoadedThread:
            loaded: LoadedThread = container.loop.run(container.ports.store.load(thread_id, self.said))
            return loaded

        return self.system.functions[AGENT].ask(load)

    def _situation(self, *, quiet: bool) -> Situation:
        return Situation(self.outputs(), quiet, self.begun)

    def _step(self) -> bool:
        """One invocation, or what is due of a queue's own."""
        return any(source.step() for source in self.system.all_sources)

    def _wait(self) -> bool:
        """Let time pass until something is due. False if nothing will be."""
        due_at = min((at for one in self.system.all_sources if (at := one.next_due_at())), default=None)
        if due_at is None or due_at > self.system.clock.now() + REST:
            return False
        self.system.clock.move_to(due_at)
        return True

    def _say(self, say: Say) -> None:
        body = {**say.body, "thread_id": self.names[say.body["thread_id"]]}
        if say.is_command:
            self._fork(body["thread_id"], body["at_seq"], self.names[body["new_thread_id"]])
            self.begun |= {body["new_thread_id"]}
            return
        if "call_id" in body:  # the one that the scenario's own thread would have: always of the first call
            with self.plan.looking_away():
                history = self.system.history(body["thread_id"])
            body["call_id"] = next(entry["call_id"] for entry in history if entry["kind"] == "tool_call")
        self.said.append(InputKey(body["type"], body["message_id"]))
        self.system.send(body, thread_id=None, sender=None)

    def _fork(self, thread_id: str, at_seq: int, new_thread_id: str) -> None:
        """As `torpor fork`, given again until it succeeds."""

        def ask(container: Any) -> None:
            work = fork(container.ports.store, thread_id, at_seq, new_thread_id, clock=self.system.clock)
            container.loop.run(work)

        for _ in range(MOST_STEPS):
            try:
                return self.system.functions[AGENT].ask(ask)
            except RetryableError:
                continue


def _left_of(thread_id: str, loaded: LoadedThread) -> Iterator[str]:
    """What one thread still waits for, though nothing will come."""
    state = loaded.folded.state
    if loaded.last is None or loaded.tip != loaded.last.number:
        yield f"{thread_id}: the tip is {loaded.tip}, the log {loaded.last}"
    waits = (state.live, state.owes, state.children, state.deferred, state.wake, state.compaction)
    yield from (f"{thread_id}: {what}" for what in waits if what)


class _AtOnce:
    """Implements the simulation's `Schedule`: nothing is ever held up."""

    def wait_at(self, gate: Gate) -> None:
        gate.opened.set_result(None)

    def pass_at(self, who: Invocation, call: str, place: str, faults: Faults) -> None:
        """Goes on."""


def _prepared(function: str, container: Any) -> Any:
    """A container in which the simulation's tools run freely, and synchronous clients lose no time."""

    async def tools_run_freely() -> None:
        RAN.set(lambda _: None)
        CURRENT.set(Invocation(function, function, _AtOnce()))

    container.loop.run(tools_run_freely()) if hasattr(container, "loop") else None
    for client in container.clients if isinstance(container.clients, tuple) else ():
        try_again_at_once(client)
    return container
