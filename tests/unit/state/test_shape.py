"""Which types a state may have: threads begin with one of nothing, and keep it as JSON."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel

from core.errors import DefinitionError
from core.state import AgentState, GlobalState
from core.state.shape import check_state_type


@dataclass
class Fine:
    count: int = 0
    message_history: list[Any] = field(default_factory=list)


class Needs(GlobalState):
    name: str


@dataclass
class NeedsToo:
    name: str


class Unwritable(BaseModel):
    model_config = {"arbitrary_types_allowed": True}
    thing: object = object()


class Unreadable(BaseModel):
    count: int = "many"  # type: ignore[assignment]


@dataclass
class Hidden:
    message_history: list[Any] = field(default_factory=list, init=False)


class Raises(BaseModel):
    def __init__(self) -> None:
        raise RuntimeError("no")


@pytest.mark.parametrize("state_type", [GlobalState, AgentState, Fine, dict])
def test_models_dataclasses_and_dicts_are_fine(state_type: type[Any]) -> None:
    check_state_type("agent 'a'", state_type)


@pytest.mark.parametrize("state_type", [Needs, NeedsToo, Unwritable, Unreadable, Hidden, Raises, int, list])
def test_a_type_that_cannot_begin_or_be_kept_is_refused(state_type: type[Any]) -> None:
    with pytest.raises(DefinitionError, match="agent 'a'"):
        check_state_type("agent 'a'", state_type)
