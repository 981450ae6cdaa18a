"""Random runs: setup and schedule drawn from a seed. The same seed is the same run."""

import random

from .choosing import Random
from .queues import VISIBILITY_SECONDS
from .run import Outcome, run
from .scenario import Scenario
from .world import Setup

OVERLAPPING_SECONDS = 10.0


def seeded(scenario: Scenario, seed: int) -> Outcome:
    """The run of this seed."""
    name = f"{scenario.name} {seed}"
    draw = random.Random(f"setup of {name}")
    setup = Setup(
        newest_first=draw.random() < 0.5,
        eager_client=draw.random() < 0.5,
        batch=draw.choice((1, 1, 3, 10)),
        visibility_seconds=draw.choice((VISIBILITY_SECONDS, VISIBILITY_SECONDS, OVERLAPPING_SECONDS)),
    )
    return run(scenario, Random(name), setup)
