"""The README counts what the simulator plays, and what it is proven to notice."""

from pathlib import Path

from .simulation.scenarios import BY_NAME
from .test_simulation_sabotages import SABOTAGES

README = " ".join((Path(__file__).parents[2] / "README.md").read_text().split())


def test_the_numbers_of_conversations_and_guarantees_are_right() -> None:
    assert f" {len(BY_NAME)} short conversations" in README
    assert f" {len(SABOTAGES)} guarantees" in README
