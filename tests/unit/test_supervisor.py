"""Defining a supervisor: what it takes over from its routes, what an app makes of it, and what is refused."""

from dataclasses import dataclass
from typing import Any

import pytest

from core.agent import Agent
from core.app import App
from core.errors import DefinitionError
from core.supervisor import Supervisor, specialists
from core.tools import tool


@tool(worker="shop")
def ship(order: str) -> str:
    """Ship it."""
    return order


SALES = Agent(name="seller", model="test:sales", message_template="{user}: {content}")
SHIPPING = Agent(name="shipper", model="test:shipping", tools=[ship])
ROUTES = {"sales": SALES, "shipping": SHIPPING}
DESK = Supervisor("desk", ROUTES, default="shipping")


def test_it_stands_wherever_an_agent_does() -> None:
    app = App.of(DESK)
    assert app.agent() is SHIPPING
    assert app.agent(route="sales") is SALES
    assert App(agents=[SALES, DESK], default="desk").agent("desk", "sales") is SALES


def test_its_agents_can_be_asked_for_by_name_and_their_workers_are_the_apps() -> None:
    app = App(agents=[DESK])
    assert app.agent("seller") is SALES
    assert list(app.by_name) == ["desk", "seller", "shipper"]
    assert list(app.workers()) == ["shop"]


def test_the_first_route_is_the_default_and_the_default_lends_its_model_and_template() -> None:
    desk = Supervisor("desk", ROUTES)
    assert (desk.default, desk.model, desk.message_template) == (
        "sales",
        "test:sales",
        SALES.message_template,
    )
    assert Supervisor("desk", ROUTES, model="test:tiny").model == "test:tiny"


def test_a_supervisor_may_route_to_another() -> None:
    top = Supervisor("top", {"shop": DESK, "sales": SALES}, default="shop")
    assert top.at("shop/sales") is SALES
    assert [agent.name for agent in specialists(top)] == ["seller", "shipper", "seller"]
    assert App(agents=[top]).agent("desk") is SHIPPING


@pytest.mark.parametrize("route", [None, "", "gone", "shop/gone", "gone/sales", "sales/sales"])
def test_a_route_that_a_deployment_took_away_is_the_defaults(route: str | None) -> None:
    top = Supervisor("top", {"shop": DESK, "sales": SALES}, default="shop")
    assert top.at(route) in (SHIPPING, SALES)
    assert DESK.at("gone") is SHIPPING


def test_a_route_leads_somewhere_only_if_all_of_it_does() -> None:
    top = Supervisor("top", {"shop": DESK, "sales": SALES})
    assert [route for route in ("shop/sales", "sales") if top.leads(route)] == ["shop/sales", "sales"]
    assert not any(map(top.leads, ("", "gone", "shop", "shop/gone", "sales/sales", "shop/sales/more")))


def test_it_can_be_a_key_as_an_agent_can() -> None:
    assert {App(agents=[DESK]): 1, DESK: 2}[Supervisor("desk", dict(ROUTES), default="shipping")] == 2


def test_one_model_can_replace_all_and_one_agent_in_two_places_stays_one() -> None:
    app = App(agents=[Supervisor("desk", ROUTES), SALES]).with_model("test:one")
    assert {player.model for player in app.by_name.values()} == {"test:one"}
    assert app.agent("desk", "sales") is app.agent("seller")


@dataclass
class Basket:
    items: int = 0


BAD: list[dict[str, Any]] = [
    {"name": "no spaces"},
    {"routes": {}},
    {"routes": [SALES]},
    {"routes": {"sales/eu": SALES}},
    {"routes": {"sales": "seller"}},
    {"routes": {"sales": SALES, "Sales": SHIPPING}},
    {"window": 0},
    {"default": "nobody"},
    {"model": "nothing"},
    {"instructions": None},
    {"message_template": "{user_id}"},
    {"routes": {"a": SALES, "b": Agent(name="b", model="test:b", state_type=Basket)}},
]


@pytest.mark.parametrize("change", BAD, ids=[f"{n} {next(iter(one))}" for n, one in enumerate(BAD)])
def test_bad_definitions_fail_when_defined(change: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError):
        Supervisor(**{"name": "desk", "routes": ROUTES} | change)


def test_two_of_an_app_cannot_share_a_name() -> None:
    with pytest.raises(DefinitionError):
        App(agents=[Supervisor("seller", ROUTES)])
