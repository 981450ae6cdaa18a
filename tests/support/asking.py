"""Tools that need a person's approval, an agent with them, and how people answer. What is run is noted."""

from collections.abc import Mapping
from typing import Any

from core.agent import Agent
from core.tools import tool
from tests.support.inputs import message
from tests.support.world import TOOLS, World, agent

PAY = ("pay", {"amount": 5})
WIPE = ("wipe", {"disk": "sda"})
RUN: list[Any] = []
"""What the inline tool was run with. Emptied by `asking`."""


@tool(worker="bank", requires_approval=True, deadline_seconds=600)
def pay(amount: int) -> str:
    """Pay somebody."""
    return f"paid {amount}"


@tool(inline=True, requires_approval=True)
def wipe(disk: str) -> str:
    """Wipe a disk."""
    RUN.append(disk)
    return f"wiped {disk}"


def _much(args: Mapping[str, Any]) -> bool:
    return bool(args["amount"] > 100)


@tool(inline=True, requires_approval=_much)
def give(amount: int | str, to: str = "me") -> str:
    """Give money to somebody."""
    return f"gave {amount} to {to}"


def asking(**fields: Any) -> Agent:
    """An agent with these tools and the usual ones."""
    RUN.clear()
    return agent(tools=(*TOOLS, pay, wipe, give), **fields)


def answer(call_id: str, message_id: str = "a1", **fields: Any) -> Any:
    """A person's answer."""
    return message("answer", message_id, call_id=call_id, **fields)


def closings(one: World) -> list[tuple[str, str]]:
    """Kind and outcome of every question that was closed."""
    return [(output["kind"], output["outcome"]) for output in one.dispatcher.of_type("question_closed")]
