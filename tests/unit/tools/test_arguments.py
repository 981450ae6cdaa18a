"""From a signature to a schema, and from a model's JSON to keyword arguments. Annotations here are strings."""

from __future__ import annotations

import dataclasses
import enum
import math
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, field_validator

from core import DefinitionError, ToolContext, tool
from core.tools import BadArguments, validate_arguments

if TYPE_CHECKING:
    from nowhere import Answer  # type: ignore[import-not-found]


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Filter(BaseModel):
    field: str
    limit: int = 5


@dataclasses.dataclass
class Span:
    start: date
    days: int = 1


class Picky(BaseModel):
    word: str

    @field_validator("word")
    @classmethod
    def _breaks(cls, word: str) -> str:
        return {"good": word}[word]


@tool
def search(
    query: Annotated[str, Field(description="What to look for", max_length=10)],
    order: Literal["newest", "best"] = "best",
    colour: Colour = Colour.RED,
    filters: list[Filter] | None = None,
    span: Span | None = None,
    share: float = Field(0.5, description="How much"),
    ctx: ToolContext | None = None,
) -> Answer:
    """Search."""


@tool
def awkward(schema: str, copy: str, model_config: str, _hidden: str, self: str, json: bool = False) -> str:
    """Parameters with the names of pydantic's own attributes."""
    return schema + copy + model_config + _hidden + self + str(json)


@tool
def picky(value: Picky) -> str:
    """Has a validator that breaks."""
    return value.word


def test_the_schema_says_what_the_signature_says() -> None:
    schema = search.tool.input_schema
    assert (schema["type"], schema["required"], schema["additionalProperties"]) == (
        "object",
        ["query"],
        False,
    )
    properties = schema["properties"]
    assert list(properties) == ["query", "order", "colour", "filters", "span", "share"]
    assert properties["query"] == {"type": "string", "description": "What to look for", "maxLength": 10}
    assert properties["order"] == {"type": "string", "enum": ["newest", "best"], "default": "best"}
    assert properties["share"] == {"type": "number", "default": 0.5, "description": "How much"}
    assert schema["$defs"]["Colour"]["enum"] == ["red", "blue"]
    assert schema["$defs"]["Span"]["required"] == ["start"]


def test_a_tool_without_arguments_has_an_object_schema() -> None:
    @tool
    def now() -> str:
        """Tell the time."""
        return "noon"

    assert now.tool.input_schema == {"type": "object", "properties": {}, "additionalProperties": False}
    assert validate_arguments(now.tool, {}) == {}


def test_arguments_arrive_as_the_types_of_the_signature() -> None:
    raw = {"query": "q", "colour": "blue", "filters": [{"field": "f"}], "span": {"start": "2026-03-08"}}
    assert validate_arguments(search.tool, raw) == {
        "query": "q",
        "order": "best",
        "colour": Colour.BLUE,
        "filters": [Filter(field="f")],
        "span": Span(date(2026, 3, 8)),
        "share": 0.5,
    }


def test_a_parameter_may_have_any_name() -> None:
    raw = {"schema": "a", "copy": "b", "model_config": "c", "_hidden": "d", "self": "e"}
    assert validate_arguments(awkward.tool, raw) == {**raw, "json": False}


def test_a_default_that_json_cannot_say_holds_untold() -> None:
    @tool
    def rank(limit: float = math.inf) -> str:
        """Rank."""
        return str(limit)

    assert rank.tool.input_schema["properties"] == {"limit": {"type": "number"}}
    assert validate_arguments(rank.tool, {}) == {"limit": math.inf}


@pytest.mark.parametrize("extra", [math.nan, object()], ids=["a number", "an object"])
def test_a_schema_that_is_not_json_is_refused_when_the_tool_is_defined(extra: object) -> None:
    def rank(limit: float) -> None: ...

    rank.__annotations__ = {"limit": Annotated[float, Field(json_schema_extra={"example": extra})]}  # type: ignore[dict-item]
    with pytest.raises(DefinitionError, match="rank"):
        tool(description="Rank.")(rank)


def test_defaults_are_not_shared_between_calls() -> None:
    @tool
    def collect(words: list[str] = []) -> str:  # noqa: B006 - what users write
        """Collect."""
        return " ".join(words)

    validate_arguments(collect.tool, {})["words"].append("leak")
    assert validate_arguments(collect.tool, {}) == {"words": []}


@pytest.mark.parametrize("raw", [None, "{}", '{"query": "q"}', ["q"], 3, True], ids=repr)
def test_what_is_not_an_object_is_refused(raw: object) -> None:
    with pytest.raises(BadArguments, match="search"):
        validate_arguments(search.tool, raw)


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        ({}, ["query"]),
        ({"query": None}, ["query", "null"]),
        ({"query": ["q"]}, ["query", "an array"]),
        ({"query": "longer than ten"}, ["query", "10"]),
        ({"query": "q", "nope": 1}, ["nope", "filters"]),
        ({"query": "q", "ctx": {}}, ["ctx"]),
        ({"query": "q", "argument_order": "best"}, ["argument_order"]),
        ({"query": "q", "order": "worst"}, ["order", "newest"]),
        ({"query": "q", "colour": "green"}, ["colour", "red"]),
        ({"query": "q", "filters": [{"field": "f"}, {}]}, ["filters.1.field"]),
        ({"order": 1, "share": "x"}, ["query", "order", "share"]),
    ],
    ids=str,
)
def test_the_refusal_names_every_field_and_what_was_wrong(raw: dict[str, Any], named: list[str]) -> None:
    with pytest.raises(BadArguments) as caught:
        validate_arguments(search.tool, raw)
    message = str(caught.value)
    assert [word for word in named if word not in message] == []
    assert "pydantic" not in message


def test_the_refusal_is_short_and_clean_whatever_was_sent() -> None:
    raw = {f"\ud800\x00{index}" + "x" * 10_000: index for index in range(1_000)}
    with pytest.raises(BadArguments) as caught:
        validate_arguments(search.tool, raw)
    assert len(str(caught.value)) < 1_100
    assert not {"\ud800", "\x00"} & set(str(caught.value))


def test_a_validator_that_breaks_refuses_the_arguments() -> None:
    assert validate_arguments(picky.tool, {"value": {"word": "good"}}) == {"value": Picky(word="good")}
    with pytest.raises(BadArguments, match="KeyError"):
        validate_arguments(picky.tool, {"value": {"word": "bad"}})
