"""Agents: what one holds, and mistakes found when it is defined."""

import dataclasses
from itertools import count
from typing import Any

import pytest

from core import Agent, DefinitionError, Limits, tool
from core.state import GlobalState


@tool
def first(text: str) -> str:
    """One."""
    return text


@tool(worker="w")
def second(text: str) -> str:
    """Two."""
    return text


class Needy(GlobalState):
    """A state that no thread can begin with."""

    name: str


def plain(text: str) -> str:
    """Not decorated."""
    return text


def test_an_agent_holds_its_tools_by_name_in_their_order() -> None:
    agent = Agent(name="a", instructions="Help.", model="bedrock:m", tools=[second, first.tool])
    assert dict(agent.toolbox) == {"second": second.tool, "first": first.tool}
    assert list(agent.toolbox) == ["second", "first"]
    assert (agent.on_busy, agent.limits, agent.state_type) == ("interrupt", Limits(), None)


def test_changing_the_list_afterwards_changes_no_agent() -> None:
    tools: list[Any] = [first]
    agent = Agent(name="a", model="script:s.json", tools=tools)
    tools.append(second)
    assert list(agent.toolbox) == ["first"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        agent.name = "b"  # type: ignore[misc]
    with pytest.raises(TypeError):
        agent.toolbox["x"] = second.tool  # type: ignore[index]


def test_built_in_tools_are_all_or_none_or_those_named() -> None:
    assert "spawn_thread" in Agent(name="a", model="m:x").builtin_tool_names
    assert Agent(name="a", model="m:x", builtin_tools=False).builtin_tool_names == ()
    assert Agent(name="a", model="m:x", builtin_tools=["sleep"]).builtin_tool_names == ("sleep",)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"name": ""}, "name"),
        ({"name": "two words"}, "two words"),
        ({"name": None}, "name"),
        ({"model": "no-provider"}, "no-provider"),
        ({"model": "bedrock:"}, "model"),
        ({"model": ":m"}, "model"),
        ({"model": None}, "model"),
        ({"instructions": None}, "instructions"),
        ({"tools": [plain]}, "plain"),
        ({"tools": first}, "tools"),
        ({"tools": [first, first]}, "first"),
        ({"settings": {"temperature": 1}}, "settings"),
        ({"limits": {"tokens": 1}}, "limits"),
        ({"history_processors": [3]}, "3"),
        ({"history_processors": plain}, "history_processors"),
        ({"state_type": {}}, "state_type"),
        ({"state_type": int}, "state_type"),
        ({"state_type": Needy}, "Needy"),
        ({"on_busy": "ignore"}, "ignore"),
        ({"builtin_tools": ["fly"]}, "fly"),
        ({"builtin_tools": ["sleep", "sleep"]}, "builtin_tools"),
        ({"builtin_tools": "sleep"}, "builtin_tools"),
    ],
    ids=count(1),
)
def test_mistakes_are_refused_by_name(wrong: dict[str, Any], named: str) -> None:
    good: dict[str, Any] = {"name": "a", "instructions": "", "model": "m:x"}
    with pytest.raises(DefinitionError, match=named):
        Agent(**{**good, **wrong})
