"""Every fault, wherever it can strike, in every scenario: no rule of the checker is broken, and the end is the same.

One test for each scenario and kind of fault; each is a run per place. `make soak` adds every pair of crashes and random
schedules. A failure is shrunk first; the command it prints replays it.
"""

from collections.abc import Iterable

import pytest

from .simulation.exhaustive import SETUPS, SHORT, singles
from .simulation.report import failure
from .simulation.run import Outcome
from .simulation.scenario import Scenario
from .simulation.scenarios import SCENARIOS
from .simulation.seeds import seeded
from .simulation.shrink import shrink
from .simulation.world import Setup

SEEDS = range(4)
each_scenario = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)


def all_hold(outcomes: Iterable[Outcome]) -> None:
    """Fails with the first broken run, made short."""
    for outcome in outcomes:
        if outcome.broken:
            pytest.fail(failure(shrink(outcome)), pytrace=False)


@each_scenario
@pytest.mark.parametrize("setup", SETUPS, ids=("one-order", "other-order"))
def test_the_invocation_dies_at_every_point(scenario: Scenario, setup: Setup) -> None:
    all_hold(singles(scenario, setup, "crash"))


@each_scenario
def test_an_old_invocation_wakes_up_after_its_successor_committed(scenario: Scenario) -> None:
    all_hold(singles(scenario, SHORT, "stall"))


@each_scenario
def test_a_request_fails_or_times_out_but_was_done(scenario: Scenario) -> None:
    all_hold(singles(scenario, SHORT, "fail"))


@each_scenario
def test_a_request_is_refused_for_good(scenario: Scenario) -> None:
    all_hold(singles(scenario, SHORT, "refuse"))


@each_scenario
def test_a_queue_the_store_or_the_model_is_broken_until_all_tries_are_used_up(scenario: Scenario) -> None:
    all_hold(singles(scenario, SHORT, "break"))


@each_scenario
def test_random_schedules(scenario: Scenario) -> None:
    all_hold(seeded(scenario, seed) for seed in SEEDS)
