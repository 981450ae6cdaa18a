"""Choosing what happens next. At every decision one option is calm; whatever else is taken is a deviation.

A schedule is the calm one plus deviations, each at the number of its decision. So a run is replayed by its deviations
alone, and made shorter by leaving some of them out.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Option:
    """Something that can happen next."""

    kind: str
    """go, deliver, say, advance, wake, crash, stall, fail, refuse, break, deny, repeat, early or reorder."""
    what: str
    """To whom or what, unique at its decision."""
    act: Callable[[], None] = field(compare=False)
    faults: tuple[str, ...] = ()
    """What can go wrong instead, if this lets an invocation on."""

    def __str__(self) -> str:
        return f"{self.kind} {self.what}"


FAULTS = frozenset({"crash", "stall", "fail", "refuse", "break", "deny"})
Others = Callable[[], Sequence[Option]]


@dataclass(frozen=True, slots=True)
class Deviation:
    """At the decision of this number, or the first one after it where that is possible, take this option."""

    at: int
    option: str

    def __str__(self) -> str:
        return f"{self.at}:{self.option}"

    @classmethod
    def parse(cls, text: str) -> "Deviation":
        at, _, option = text.partition(":")
        return cls(int(at), option)


class Chooser(Protocol):
    """Takes the decisions of one run."""

    def choose(self, number: int, calm: Option, others: Others) -> Option:
        """One of `calm` and `others()`, at decision `number`, counted from 0."""
        ...


class Planned:
    """The calm schedule with these deviations, in order."""

    def __init__(self, deviations: Iterable[Deviation] = ()) -> None:
        self._left = sorted(deviations, key=lambda deviation: deviation.at)

    def choose(self, number: int, calm: Option, others: Others) -> Option:
        due = [deviation for deviation in self._left if deviation.at <= number]
        if not due:
            return calm
        options = {str(option): option for option in (calm, *others())}
        for deviation in due:
            if deviation.option in options:
                self._left.remove(deviation)
                return options[deviation.option]
        return calm


WEIGHTS = {
    "go": 6.0,
    "deliver": 6.0,
    "say": 4.0,
    "advance": 0.5,
    "wake": 1.0,
    "crash": 1.5,
    "stall": 0.7,
    "fail": 2.0,
    "refuse": 0.3,
    "break": 0.8,
    "deny": 0.1,
    "repeat": 0.4,
    "early": 0.5,
    "reorder": 0.5,
}
LAST_DEVIATION = 600
"""The decision after which a random schedule is calm: faults stop, and everything must come to its end."""


class Random:
    """A schedule drawn from a seed, calm from some point on. Some seeds are wild, some nearly calm."""

    def __init__(self, seed: str) -> None:
        self._draw = random.Random(seed)
        self._restlessness = self._draw.choice((0.02, 0.1, 0.3, 0.6))
        self._faults_left = self._draw.randint(0, 10)

    def choose(self, number: int, calm: Option, others: Others) -> Option:
        if number > LAST_DEVIATION or self._draw.random() > self._restlessness:
            return calm
        possible = [o for o in others() if self._faults_left or o.kind not in FAULTS]
        if not possible:
            return calm
        by_kind: dict[str, list[Option]] = {}
        for option in possible:
            by_kind.setdefault(option.kind, []).append(option)
        kinds = list(by_kind)
        (kind,) = self._draw.choices(kinds, [WEIGHTS[kind] for kind in kinds])
        self._faults_left -= kind in FAULTS
        return self._draw.choice(by_kind[kind])
