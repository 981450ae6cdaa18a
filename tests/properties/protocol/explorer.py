"""Takes every step of every invocation in every order, breadth first, so that the first violation is the shortest.

It knows nothing of the protocol but `steps`. Two things make it take seconds. Seats are interchangeable (nothing in a
store names who wrote it), so a world is a store and a *sorted* tuple of invocations: one world for up to six. And what
a step leads to depends on the store and one invocation only, of which there are few, so each such pair is computed and
checked once, and worlds are tuples of small numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from .facts import Store
from .properties import Check, Property
from .rules import Protocol
from .slices import Action, Idle, Slice, Step, steps

T = TypeVar("T", bound=Hashable)
World = tuple[int, ...]  # the number of a store, then those of the invocations, sorted


@dataclass(frozen=True, slots=True)
class Move:
    """A step between numbered stores and invocations, and the properties it breaks."""

    step: Step
    by: int
    store: int
    slice: int
    broken: tuple[Property, ...]


@dataclass(frozen=True)
class Violation:
    """A shortest run into a broken property."""

    broken: tuple[Property, ...]
    trace: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(
            [*self.broken, *(f"  {number:2} {line}" for number, line in enumerate(self.trace, 1))]
        )


@dataclass(frozen=True)
class Report:
    """What was seen: all reachable worlds, or those up to the first violation."""

    worlds: int
    stores: int
    actions: frozenset[Action]
    violation: Violation | None


class Numbering(Generic[T]):
    """Numbers for values, in the order they come up."""

    def __init__(self) -> None:
        self._numbers: dict[T, int] = {}
        self.values: list[T] = []

    def number(self, value: T) -> int:
        """The value's number; a new one if it is new."""
        if value not in self._numbers:
            self._numbers[value] = len(self.values)
            self.values.append(value)
        return self._numbers[value]


class Moves:
    """The moves of one invocation in one store, computed and checked when first asked for."""

    def __init__(self, rules: Protocol, checks: Mapping[Property, Check]) -> None:
        self._rules = rules
        self._checks = checks
        self._known: dict[tuple[int, int], list[Move]] = {}
        self._broken: dict[tuple[int, int], tuple[Property, ...]] = {}
        self.stores: Numbering[Store] = Numbering()
        self.slices: Numbering[Slice] = Numbering()
        self.actions: set[Action] = set()

    def of(self, store: int, slice: int) -> list[Move]:
        """Every move this invocation can make in this store."""
        if (store, slice) not in self._known:
            self._known[store, slice] = [self._move(store, slice, step) for step in self._steps(store, slice)]
        return self._known[store, slice]

    def _steps(self, store: int, slice: int) -> Iterator[Step]:
        return steps(self._rules, self.stores.values[store], self.slices.values[slice])

    def _move(self, store: int, slice: int, step: Step) -> Move:
        self.actions.add(step.action)
        after = self.stores.number(step.store)
        if (store, after) not in self._broken:
            before = self.stores.values[store]
            holds = self._checks.items()
            self._broken[store, after] = tuple(name for name, check in holds if not check(before, step.store))
        return Move(step, slice, after, self.slices.number(step.slice), self._broken[store, after])


class Explorer:
    """All worlds reachable under some rules."""

    def __init__(self, rules: Protocol, checks: Mapping[Property, Check]) -> None:
        self._seats = rules.scenario.overlap
        self._moves = Moves(rules, checks)
        self._came_from: dict[World, tuple[World, Move] | None] = {}

    def run(self) -> Report:
        """Explore until everything is seen or a property is broken."""
        start = (self._moves.stores.number(Store()), *[self._moves.slices.number(Idle())] * self._seats)
        self._came_from[start] = None
        frontier = deque([start])
        while frontier:
            world = frontier.popleft()
            for move, after in self._next(world):
                if move.broken:
                    return self._report(Violation(move.broken, self._trace(world, move)))
                if after not in self._came_from:
                    self._came_from[after] = (world, move)
                    frontier.append(after)
        return self._report(None)

    def _next(self, world: World) -> Iterator[tuple[Move, World]]:
        store, *slices = world
        for seat, slice in enumerate(slices):
            others = slices[:seat] + slices[seat + 1 :]
            if slice not in slices[:seat]:
                for move in self._moves.of(store, slice):
                    yield move, (move.store, *sorted([*others, move.slice]))

    def _trace(self, world: World, last: Move) -> tuple[str, ...]:
        """The run in words. Here invocations get names back, numbered as they start: in a world they are sorted."""
        moves = [last]
        while (origin := self._came_from[world]) is not None:
            world, move = origin
            moves.append(move)
        idle = self._moves.slices.number(Idle())
        alive: dict[int, int] = {}  # by invocation
        started, lines = 0, []
        for move in reversed(moves):
            if move.by == idle:
                started += 1
                alive[started] = idle
            name = next(name for name, slice in alive.items() if slice == move.by)
            alive[name] = move.slice
            if move.slice == idle:
                del alive[name]
            lines.append(f"invocation {name} {move.step.action} {move.step.what}".rstrip())
        return tuple(lines)

    def _report(self, violation: Violation | None) -> Report:
        found = self._moves
        return Report(len(self._came_from), len(found.stores.values), frozenset(found.actions), violation)
