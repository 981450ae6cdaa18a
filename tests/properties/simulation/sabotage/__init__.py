"""Sabotages: the product with one guarantee taken out, each of which the simulator must notice.

A sabotage that goes unnoticed is a hole in the checker. Each is a few patches of the running product, named in the
words of the issue that asked for it, with the scenarios in which it must be found.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.properties.simulation.choosing import Planned
from tests.properties.simulation.exhaustive import SETUPS, singles
from tests.properties.simulation.run import Outcome, run
from tests.properties.simulation.scenarios import BY_NAME
from tests.properties.simulation.seeds import seeded
from tests.properties.simulation.world import Setup

OF_THE_SABOTAGE = ("AttributeError", "TypeError", "NameError", "AssertionError")
"""What a patch raises that the product has outgrown: it shows nothing about the guarantee."""
Patch = tuple[Any, str, Any]
"""Object, attribute, and what takes its place."""


@dataclass(frozen=True, slots=True)
class Sabotage:
    """One guarantee taken out of the product."""

    name: str
    patches: Callable[[], Sequence[Patch]]
    scenarios: Sequence[str]
    faults: Sequence[str] = ("crash",)
    """Kinds of single fault to try at every point; the calm run, days later included, comes first in any case."""
    seeds: int = 0
    """Random schedules to try after those."""

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The product, sabotaged."""
        with pytest.MonkeyPatch.context() as patching:
            for owner, attribute, value in self.patches():
                patching.setattr(owner, attribute, value)
            yield

    def found(self) -> Outcome | None:
        """The first run in which a rule is broken; None if it goes unnoticed, or only broke down itself."""
        with self.applied():
            found = next((outcome for outcome in self._runs() if outcome.broken), None)
        crashed = found is not None and any(error in found.broken[0] for error in OF_THE_SABOTAGE)
        return None if crashed else found

    def _runs(self) -> Iterator[Outcome]:
        for name in self.scenarios:
            yield run(BY_NAME[name], Planned(), Setup())
            for setup in SETUPS:
                for fault in self.faults:
                    yield from singles(BY_NAME[name], setup, fault)
        for seed in range(self.seeds):
            for name in self.scenarios:
                yield seeded(BY_NAME[name], seed)
