"""Tools nobody wrote for Converse: whatever their signature, a model of any family is told of it and can call it."""

import dataclasses
import enum
import json
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, NewType

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from core.agent import Agent
from core.app import App
from core.errors import DefinitionError
from core.tools import Tool, ToolFunction, tool
from infra.memory import MemoryClock, MemoryStore
from tests.support.inputs import user
from tests.support.recording import RecordingDispatcher
from tests.support.world import START, World, world
from tests.wire import frames
from tests.wire.asking import CLAUDE, NOVA, UNKNOWN, asking
from tests.wire.server import ConverseServer
from tests.wire.steps import plays


class Colour(enum.Enum):
    RED = "red"


class Size(enum.IntEnum):
    SMALL = 1


class Tree(BaseModel):
    """Recursive."""

    name: str
    children: list["Tree"] = []


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]


class Row(TypedDict, total=False):
    cells: list[int]


class Pair(NamedTuple):
    left: int
    right: int


Celsius = NewType("Celsius", float)


@dataclasses.dataclass(frozen=True)
class Case:
    """A parameter's type, and what a model writes for it."""

    hint: Any
    written: Any
    defaults: tuple[Any, ...] = ()


CASES = {
    "an enum": Case(Colour, "red"),
    "an enum of numbers": Case(Size, 1),
    "a literal": Case(Literal["a", 1, None], None),
    "a dataclass": Case(Point, {"x": 1}),
    "a pydantic model": Case(Cat, {"kind": "cat"}),
    "a recursive model": Case(Tree, {"name": "a", "children": [{"name": "b"}]}),
    "a list of recursive models": Case(list[Tree], [{"name": "a", "children": [{"name": "b"}]}]),
    "a union that is told apart by a field": Case(
        Annotated[Cat | Dog, Field(discriminator="kind")], {"kind": "dog"}
    ),
    "a plain union": Case(int | list[str] | None, ["x"]),
    "annotated": Case(Annotated[str, Field(min_length=1, description="Some words.")], "x"),
    "anything": Case(Any, {"a": [None]}),
    "a dict": Case(dict[str, list[Point]], {"a": [{"x": 1, "y": 2}]}),
    "a typed dict": Case(Row, {"cells": [1]}),
    "a named tuple": Case(Pair, [1, 2]),
    "a tuple": Case(tuple[int, str], [1, "x"]),
    "a set": Case(set[int], [1, 2]),
    "a new type": Case(Celsius, 0.1),
    "a date": Case(date, "2026-03-08"),
    "a duration": Case(timedelta, "PT5S"),
    "a decimal": Case(Decimal, "0.10"),
    "bytes": Case(bytes, "abc"),
    "a large number": Case(int, 2**63),
    "a default that is a model": Case(Cat, {"kind": "cat"}, (Cat(kind="cat"),)),
    "a default that is not JSON": Case(Any, 1, (object(),)),
}


def _tool(case: Case) -> ToolFunction[..., Any]:
    """A tool with one parameter of this type, which says what it got."""

    def take(value: Any) -> str:
        return f"got {value!r}"

    take.__annotations__ = {"value": case.hint}
    take.__defaults__ = case.defaults
    return tool(name="take", description="Take it.")(take)


class Talk(World):
    """A world whose model is asked over the wire."""

    asked: Any

    @property
    def ports(self) -> Any:
        return dataclasses.replace(super().ports, models=lambda name: self.asked)


@pytest.mark.parametrize("model_id", [CLAUDE, NOVA, UNKNOWN], ids=["claude", "nova", "unknown"])
async def test_a_tool_with_a_parameter_of_any_type_is_told_to_any_model_and_can_be_called(
    model_id: str,
) -> None:
    clock = MemoryClock(START)
    async with ConverseServer() as server, asking(server, model_id) as model:
        for number, (kind, case) in enumerate(CASES.items()):
            arguments = json.dumps({"value": case.written})
            server.play(
                plays(frames.message(frames.call(0, "take", arguments), reason="tool_use")),
                plays(frames.says("done")),
            )
            agent = Agent(name="taker", model=f"bedrock:{model_id}", tools=[_tool(case)])
            one = Talk(App.of(agent), world().model, clock, MemoryStore(clock), RecordingDispatcher(clock))
            one.asked = model
            await one.run(user("go", f"m{number}"))
            lines = await one.lines()
            assert lines[-2].startswith("Result(take, got "), (kind, lines)
            assert lines[-1] == "Asst(done)", kind


def _described(description: str = "Do it.", **options: Any) -> Tool:
    def do(value: str) -> str:
        return value

    return tool(description=description, **options)(do).tool


def test_a_name_with_dots_is_refused_when_defined_naming_it_and_the_reason() -> None:
    for name in ("files.read", "a" * 200, "käse", "two words", ""):
        with pytest.raises(DefinitionError) as refused:
            _described(name=name)
        assert repr(name) in str(refused.value)
        assert "1 to 64" in str(refused.value)


def test_an_empty_description_is_refused_when_defined_naming_the_tool() -> None:
    for description in ("", " \n"):
        with pytest.raises(DefinitionError, match="'reader' has no description"):
            _described(name="reader", description=description)


@pytest.mark.parametrize("key", ["anyOf", "oneOf", "allOf", "$ref"])
def test_a_schema_that_is_a_choice_or_a_reference_at_its_top_is_refused_naming_the_tool(key: str) -> None:
    schemas: tuple[dict[str, Any], ...] = ({key: []}, {"type": "object", "properties": {}, key: []})
    for schema in schemas:
        with pytest.raises(DefinitionError, match="'reader'"):
            dataclasses.replace(_described(name="reader"), input_schema=schema)
