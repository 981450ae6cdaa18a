"""One run: a world driven by a chooser to its end, or to the first broken rule."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from core.history import checkpoints
from core.ids import digest

from .choosing import Chooser, Deviation, Option, Others
from .facts import Facts
from .listening import listening
from .moves import calm_move, on_the_spot, other_moves
from .points import Faults, Gate, Invocation
from .queues import Sent
from .same_end import SameEnd
from .scenario import Scenario
from .tools import RAN
from .world import Setup, World

_SAME_END = SameEnd()
_PLAIN = Setup()
MOST_DECISIONS = 7_000
"""A run that takes more goes on for ever (invariant *never stuck*)."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was taken at one decision."""

    taken: str
    calm: str
    faults: tuple[str, ...]
    """What could have gone wrong with the calm option."""
    effects: int
    """Durable effects so far: crashes of one invocation between the same two effects are the same crash."""
    state: str = ""
    """What a deviation met: the threads in a few words."""

    @property
    def deviates(self) -> bool:
        return self.taken != self.calm


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run went."""

    scenario: Scenario
    setup: Setup
    decisions: Sequence[Decision]
    broken: Sequence[str]
    facts: Facts
    sent: Sequence[Sent]
    """Every message that was ever sent, by whomever; `repeat message N` is that of this number."""

    @property
    def digest(self) -> str:
        """The same for the same run of the same code."""
        commits = [commit.digest for thread in self.facts.threads.values() for commit in thread.commits]
        return digest([decision.taken for decision in self.decisions], commits, list(self.broken))

    @property
    def deviations(self) -> list[Deviation]:
        return [Deviation(n, d.taken) for n, d in enumerate(self.decisions) if d.deviates]


@dataclass(slots=True)
class Run:
    """Implements `Schedule`: every point of every invocation comes here."""

    chooser: Chooser
    decisions: list[Decision] = field(default_factory=list)
    world: World = field(init=False)

    def wait_at(self, gate: Gate) -> None:
        broken = self.world.outage(gate.call, gate.faults) if gate.stage == "before" else None
        if broken is None:
            self.world.gates.append(gate)
        else:
            gate.opened.set_exception(broken())

    def pass_at(self, who: Invocation, call: str, place: str, faults: Faults) -> None:
        broken = self.world.outage(call, faults) if place.endswith("before") else None
        if broken is not None:
            raise broken()
        calm, others = on_the_spot(who, place, faults)
        self.choose(calm, lambda: others).act()

    def choose(self, calm: Option, others: Others) -> Option:
        """Take one decision, and note it."""
        taken = self.chooser.choose(len(self.decisions), calm, others)
        effects = self.world.checker.effects
        state = "" if taken is calm else self.world.checker.facts.states()
        self.decisions.append(Decision(str(taken), str(calm), calm.faults, effects, state))
        return taken

    def drive(self) -> None:
        """Go on until nothing is left to do, or a rule is broken."""
        world = self.world
        while not world.checker.broken:
            world.loop.settle()
            world.reap()
            calm = calm_move(world)
            if world.checker.broken:
                return
            if calm is None and not world.is_days_later:
                world.checker.ended([say.body for say in world.scenario.says[: world.said]], world.store)
            if calm is None and (world.is_days_later or not world.setup.days_later):
                return
            if calm is None:
                calm = Option("repeat", "everything, days later", world.repeat_everything)
            self.choose(calm, lambda: list(other_moves(world))).act()
            if len(self.decisions) > MOST_DECISIONS:
                world.checker.broken.append(f"never stuck: no end after {MOST_DECISIONS} decisions")


@contextmanager
def begun(scenario: Scenario, chooser: Chooser, setup: Setup = _PLAIN) -> Iterator[Run]:
    """A run that is driven by whoever has it, as far as it pleases."""
    driven = Run(chooser)
    driven.world = world = World(scenario, setup, driven)
    with listening(world.checker.failed), _checkpoints_after(scenario.checkpoint_after):
        RAN.set(world.checker.ran)
        try:
            yield driven
        finally:
            world.dispose()


def ended(driven: Run) -> Outcome:
    """How a run went that is driven no more: compared with a fault-free one, unless a rule was broken before."""
    world, scenario = driven.world, driven.world.scenario
    checker, sent = world.checker, world.queues.sent
    if not checker.broken:
        checker.broken.extend(_SAME_END.broken(checker.facts, scenario, sent, world.store))
    return Outcome(scenario, world.setup, driven.decisions, list(checker.broken), checker.facts, sent)


def run(scenario: Scenario, chooser: Chooser, setup: Setup = _PLAIN) -> Outcome:
    """Run the scenario to its end."""
    with begun(scenario, chooser, setup) as driven:
        driven.drive()
    return ended(driven)


@contextmanager
def _checkpoints_after(commits: int | None) -> Iterator[None]:
    """Conversations are too short here for what the product waits for."""
    waited_for = checkpoints.COMMITS, checkpoints.BYTES_PER_COMMIT
    if commits is not None:
        checkpoints.COMMITS, checkpoints.BYTES_PER_COMMIT = commits, 1_000_000
    try:
        yield
    finally:
        checkpoints.COMMITS, checkpoints.BYTES_PER_COMMIT = waited_for
