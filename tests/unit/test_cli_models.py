"""Which model `torpor chat` plays: every model that a thread of the default may need must be there."""

import pytest

from core import Agent, App, Supervisor
from infra.cli_models import choose_model

HERE = "tests.unit.test_cli_models"
AGENT = Agent(name="helper", model="script:examples/research.json")
HAD = App([Supervisor("desk", {"help": AGENT})])
NOT_ITS_OWN = App([Supervisor("desk", {"help": AGENT}, model="nowhere:tiny")])
NOT_A_SPECIALISTS = App(
    [Supervisor("desk", {"help": AGENT, "more": Agent(name="more", model="nowhere:big")})]
)


def test_what_can_be_had_is_played_as_the_app_says() -> None:
    assert choose_model(f"{HERE}:HAD", None).override is None


@pytest.mark.parametrize("app", ["NOT_ITS_OWN", "NOT_A_SPECIALISTS"])
def test_another_is_played_where_the_supervisor_or_one_of_its_agents_has_none(app: str) -> None:
    assert choose_model(f"{HERE}:{app}", None).override is not None
