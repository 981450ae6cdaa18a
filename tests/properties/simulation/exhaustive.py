"""Every crash point of a scenario, each a run of its own: the calm schedule with one deviation, or two.

Crashes of one invocation between the same two durable effects lead to the same future, as nothing else is left of it:
each such group is run once, and counted whole.
"""

from collections.abc import Iterator

from .choosing import Deviation, Planned
from .run import Outcome, run
from .scenario import Scenario
from .world import Setup

SETUPS = (Setup(), Setup(newest_first=True, eager_client=False))
"""Two calm schedules that differ in every order that is free, so that either end of each pair comes first once."""


def fault_points(outcome: Outcome, kind: str, after: int = -1) -> Iterator[Deviation]:
    """Where this fault can strike in this run, at decisions after `after` only; equivalent crashes once."""
    told: set[tuple[str, int]] = set()
    for number, decision in enumerate(outcome.decisions):
        if number <= after or decision.deviates or kind not in decision.faults:
            continue
        place = decision.calm.removeprefix("go ")
        if kind == "stall" and not place.endswith("before"):
            continue
        same = (place.partition(" ")[0], decision.effects)
        if kind != "crash" or same not in told:
            told.add(same)
            yield Deviation(number, f"{kind} {place}")


def singles(scenario: Scenario, setup: Setup, kind: str = "crash") -> Iterator[Outcome]:
    """The calm run, then one run for each crash point of it."""
    calm = run(scenario, Planned(), setup)
    yield calm
    for deviation in fault_points(calm, kind):
        yield run(scenario, Planned([deviation]), setup)


def pairs(scenario: Scenario, setup: Setup) -> Iterator[Outcome]:
    """One run for each pair of crash points, the second one in what follows the first."""
    for first in singles(scenario, setup):
        for deviation in fault_points(first, "crash", after=max([d.at for d in first.deviations], default=0)):
            if first.deviations:
                yield run(scenario, Planned([*first.deviations, deviation]), setup)
