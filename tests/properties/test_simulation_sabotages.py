"""The simulator can fail: with a guarantee taken out of the product, it finds a run that breaks a rule."""

import pytest

from tests.properties.simulation.report import failure
from tests.properties.simulation.sabotage import (
    Sabotage,
    changing,
    deciding,
    erasing,
    remembering,
    reporting,
    routing,
    settling,
    spawning,
    storing,
    telling,
    waiting,
)

MODULES = (
    storing,
    settling,
    deciding,
    waiting,
    telling,
    spawning,
    reporting,
    remembering,
    routing,
    erasing,
    changing,
)
SABOTAGES: list[Sabotage] = [sabotage for module in MODULES for sabotage in module.SABOTAGES]


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.name)
def test_a_sabotage_is_noticed(sabotage: Sabotage) -> None:
    found = sabotage.found()
    assert found is not None, f"unnoticed: {sabotage.name}"
    assert failure(found)
