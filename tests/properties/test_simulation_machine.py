"""A person, a scheduler and bad luck, in any order: Hypothesis plays all three against an agent that does everything.

Whatever it does, no rule of the checker is broken; and once it lets go, everything comes to its end. Derandomised: the
same steps in every run. `make soak` draws further ones.
"""

from contextlib import ExitStack

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from .simulation.anything import ANYTHING, SCRIPT, answers, texts
from .simulation.choosing import Option, Others
from .simulation.moves import calm_move, other_moves
from .simulation.run import begun, ended
from .simulation.scenario import Say, Scenario
from .simulation.world import Setup

MOST_SAID = 5
MOST_FAULTS = 6


class _Handed:
    """Chooses what it was handed, once; else what is calm."""

    def __init__(self) -> None:
        self.next: Option | None = None

    def choose(self, number: int, calm: Option, others: Others) -> Option:
        taken, self.next = self.next or calm, None
        return taken


class AnythingGoes(RuleBasedStateMachine):
    """One run."""

    def __init__(self) -> None:
        super().__init__()
        self._said: list[Say] = []
        self._faults = 0
        self._chooser = _Handed()
        self._open = ExitStack()

    @initialize(newest_first=st.booleans(), batch=st.sampled_from((1, 10)))
    def begin(self, newest_first: bool, batch: int) -> None:
        scenario = Scenario("anything", ANYTHING, SCRIPT, self._said)
        setup = Setup(newest_first=newest_first, batch=batch)
        self._run = self._open.enter_context(begun(scenario, self._chooser, setup))
        self._world = self._run.world

    @rule(moves=st.integers(1, 12))
    def go_on(self, moves: int) -> None:
        """Calmly, for a while."""
        for _ in range(moves):
            self._settle()
            calm = calm_move(self._world)
            if calm is None or self._world.checker.broken:
                return
            self._run.choose(calm, list).act()

    @rule(pick=st.integers(0, 1_000))
    def deviate(self, pick: int) -> None:
        """Anything but the calm move: another order, a fault, a repetition."""
        self._settle()
        others = [one for one in other_moves(self._world) if self._allowed(one)]
        if not others:
            return
        self._chooser.next = others[pick % len(others)]
        self._faults += self._chooser.next.kind not in ("go", "deliver", "say", "advance", "wake")
        self._run.choose(others[0], list).act()

    @precondition(lambda self: len(self._said) < MOST_SAID)
    @rule(pick=st.integers(0, 1_000), waiting=st.booleans())
    def say(self, pick: int, waiting: bool) -> None:
        """A text or a command, or, where there is something to answer, an answer or an event."""
        self._settle()
        number = len(self._said) + 1
        special = list(answers(self._world.checker.facts, number))
        ordinary = texts(number, **({"on_busy": "queue"} if waiting else {}))
        choice = special if special and waiting else ordinary
        self._said.append(choice[pick % len(choice)])
        self._world.say()

    def _allowed(self, option: Option) -> bool:
        return self._faults < MOST_FAULTS or option.kind in ("go", "deliver", "say", "advance", "wake")

    def _settle(self) -> None:
        self._world.loop.settle()
        self._world.reap()

    @invariant()
    def no_rule_is_broken(self) -> None:
        if hasattr(self, "_run"):
            assert not self._world.checker.broken, self._world.checker.broken

    def teardown(self) -> None:
        """Faults stop, and everything must come to its end."""
        if not hasattr(self, "_run"):
            return
        with self._open:
            if not self._world.checker.broken:
                self._run.drive()
        assert not ended(self._run).broken, ended(self._run).broken


AnythingGoes.TestCase.settings = settings(
    derandomize=True,
    max_examples=20,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestAnythingGoes = AnythingGoes.TestCase
