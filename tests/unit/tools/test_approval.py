"""Whether a call needs approval: what the author's function says of the arguments that would be run."""

from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, Field

from core.tools import Tool, tool
from core.tools.approval import needs_approval


class Order(BaseModel):
    what: str
    count: int = Field(default=1, alias="howMany")


def asking(decides: Callable[[Mapping[str, Any]], Any]) -> Tool:
    @tool(requires_approval=decides)
    def order(
        one: Order, force: bool = True, euros: Decimal = Decimal(5), on: date = date(2025, 1, 1)
    ) -> str:
        """Order something."""
        return one.what

    definition: Tool = order.tool
    return definition


LAMP = {"one": {"what": "lamp"}}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (LAMP, {}),
        ({**LAMP, "force": "false", "euros": 7}, {"force": False, "euros": "7"}),
        ({"one": {"what": "lamp", "howMany": "3"}}, {"one": {"what": "lamp", "howMany": 3}}),
    ],
    ids=["defaults", "converted", "nested"],
)
def test_the_function_sees_what_would_be_run_as_json(given: dict[str, Any], expected: dict[str, Any]) -> None:
    seen: list[Any] = []
    needs_approval(asking(seen.append), given)
    defaults = {"one": {"what": "lamp", "howMany": 1}, "force": True, "euros": "5", "on": "2025-01-01"}
    assert seen == [{**defaults, **expected}]


def test_what_is_left_to_its_default_is_asked_about_too() -> None:
    forced = asking(lambda args: args.get("force", False))
    assert needs_approval(forced, LAMP)
    assert needs_approval(forced, {**LAMP, "force": "yes"})
    assert not needs_approval(forced, {**LAMP, "force": "no"})


@pytest.mark.parametrize("answer", [True, None, 0, "no"])
def test_whatever_is_not_false_says_yes(answer: object) -> None:
    assert needs_approval(asking(lambda _: answer), LAMP)


def test_the_function_cannot_change_what_is_run() -> None:
    given: dict[str, Any] = {"one": {"what": "lamp"}}
    needs_approval(asking(lambda args: args["one"].clear()), given)
    assert given == LAMP
