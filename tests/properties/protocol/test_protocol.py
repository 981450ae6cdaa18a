"""The protocol holds in every reachable world of some scenarios, and every wrong variant of it is found out.

`pytest tests/properties/protocol --log-cli-level=INFO` tells what was seen: how many worlds, and for each wrong variant
the shortest run into what it breaks.
"""

from __future__ import annotations

import logging

import pytest

from .explorer import Explorer, Report
from .properties import Property, checks
from .rules import Protocol, Scenario
from .slices import Action
from .variants import WRONG, Wrong

LOG = logging.getLogger(__name__)

SCENARIOS = {
    "three invocations overlap": Scenario(overlap=3, messages=2),
    "three different inputs": Scenario(inputs="ABC"),
    "two inputs in one batch": Scenario(batch=2, messages=2, two_rounds=True),
    "rounds without input": Scenario(inputs="A", overlap=3, messages=2, two_rounds=True),
    "messages carried on": Scenario(messages=2, broken_queues=True),
    "messages carried on twice": Scenario(inputs="A", two_rounds=True, broken_queues=True),
}

CASES = [(wrong, property) for wrong in WRONG for property in wrong.breaks]


def explore(rules: Protocol, *properties: Property) -> Report:
    return Explorer(rules, {name: check for name, check in checks(rules).items() if name in properties}).run()


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_the_protocol_holds_everywhere(scenario: Scenario) -> None:
    report = explore(Protocol(scenario), *Property)
    LOG.info("%d worlds, %d stores", report.worlds, report.stores)
    assert report.violation is None, f"\n{report.violation}"


@pytest.mark.parametrize(("wrong", "broken"), CASES, ids=[f"{w.__name__}-{p.name}" for w, p in CASES])
def test_a_wrong_variant_is_rejected(wrong: type[Wrong], broken: Property) -> None:
    report = explore(wrong(wrong.shown_by), broken)
    LOG.info("%s breaks\n%s", wrong.__name__, report.violation)
    assert report.violation is not None
    assert report.violation.broken == (broken,)


@pytest.mark.parametrize("scenario", dict.fromkeys(wrong.shown_by for wrong in WRONG), ids=str)
def test_what_rejects_a_variant_is_its_rule_and_not_its_scenario(scenario: Scenario) -> None:
    assert explore(Protocol(scenario), *Property).violation is None


def test_every_property_can_fail() -> None:
    assert {property for wrong in WRONG for property in wrong.breaks} == set(Property)


def test_every_kind_of_step_is_taken() -> None:
    report = explore(Protocol(Scenario(broken_queues=True)), *Property)
    assert report.actions == set(Action)
