"""What a tool may return (contract.md), and that nothing it returns can poison a thread."""

import dataclasses
import enum
import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID  # noqa: TID251 - the type, as tools return it

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, RootModel

from core import ImageBlock, JsonBlock, Source, TextBlock, ToolResult
from core.tools import to_result
from core.tools.content import NO_OUTPUT

NAN, INFINITY = float("nan"), float("inf")
IMAGE = ImageBlock(media_type="image/png", data="aGk=")


class Level(enum.StrEnum):
    HIGH = "high"


class Weather(BaseModel):
    at: datetime
    degrees: float
    price: Decimal = Decimal("1.50")
    level: Level = Level.HIGH


@dataclasses.dataclass
class Report:
    id: UUID
    weather: Weather
    tags: set[str]


class Words(RootModel[list[str]]):
    pass


class Opaque:
    pass


NOON = Weather(at=datetime(2026, 1, 1, 12, tzinfo=UTC), degrees=NAN)
NOON_JSON = {"at": "2026-01-01T12:00:00Z", "degrees": "NaN", "price": "1.50", "level": "high"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("hello", "hello"),
        (Level.HIGH, "high"),
        (None, "null"),
        (True, "true"),
        (3, "3"),
        (2**63, "9223372036854775808"),
        (0.1, "0.1"),
        (NAN, "NaN"),
        (-INFINITY, "-Infinity"),
        ([], "[]"),
        ([1, NAN, "é", None], '[1, "NaN", "é", null]'),
        ((1, {"a": [INFINITY]}), '[1, {"a": ["Infinity"]}]'),
        (Words(["a", "b"]), '["a", "b"]'),
        ("", NO_OUTPUT),
        (" \n\t\u2003", NO_OUTPUT),
        ("nul \x00, escape \x1b[31m, half \ud83d", "nul \ufffd, escape \ufffd[31m, half \ufffd"),
    ],
    ids=repr,
)
def test_values_that_become_text(value: object, text: str) -> None:
    assert to_result(value) == ToolResult(content=[TextBlock(text=text)])


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ({}, {}),
        ({"a": NAN, "b": [-INFINITY, 2**63, 0.1]}, {"a": "NaN", "b": ["-Infinity", 2**63, 0.1]}),
        (NOON, NOON_JSON),
        ({"now": NOON}, {"now": NOON_JSON}),
        (
            Report(UUID(int=1), NOON, {"x"}),
            {"id": "00000000-0000-0000-0000-000000000001", "weather": NOON_JSON, "tags": ["x"]},
        ),
    ],
    ids=["empty", "numbers", "model", "model in a dict", "dataclass"],
)
def test_values_that_become_a_json_block(value: object, data: object) -> None:
    result = to_result(value)
    assert result.content == (JsonBlock(data=data),)
    assert not result.is_error


def test_blocks_pass_through_but_for_blank_ones() -> None:
    text = TextBlock(text="seen")
    assert to_result(IMAGE).content == (IMAGE,)
    assert to_result([text, TextBlock(text=" "), IMAGE]).content == (text, IMAGE)
    assert to_result((TextBlock(text=" "),)).content == (TextBlock(text=NO_OUTPUT),)
    assert to_result(JsonBlock(data={"a": NAN, "b": "\x00"})).content == (
        JsonBlock(data={"a": "NaN", "b": "\ufffd"}),
    )


@pytest.mark.parametrize(
    ("value", "named"),
    [
        pytest.param(Opaque(), ["Opaque"], id="an object"),
        pytest.param(Opaque, ["type"], id="a class"),
        pytest.param(Report, ["type"], id="a dataclass, not an instance"),
        pytest.param(b"bytes", ["bytes"], id="bytes"),
        pytest.param({1, 2}, ["set"], id="a set"),
        pytest.param(ValueError("x"), ["ValueError"], id="an exception"),
        pytest.param({"a": [0, {"b": Opaque()}]}, ["Opaque", "a[1].b"], id="deep inside"),
        pytest.param({"when": NOON.at}, ["datetime", "when"], id="a datetime in a dict"),
        pytest.param({"rows": {3: "x"}}, ["int", "rows"], id="a key"),
        pytest.param(Report(Opaque(), NOON, set()), ["Report", "Opaque"], id="in a dataclass"),  # type: ignore[arg-type]
        pytest.param([IMAGE, Opaque()], ["Opaque", "[1]"], id="beside a block"),
        pytest.param(10**5_000, ["int"], id="a number too long to write"),
    ],
)
def test_anything_else_is_an_error_result_that_names_the_type(value: object, named: list[str]) -> None:
    result = to_result(value)
    assert result.is_error
    (block,) = result.content
    assert isinstance(block, TextBlock)
    assert [word for word in named if word not in block.text] == []


def test_a_value_inside_itself_is_an_error_result() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert to_result(endless).is_error


def test_a_result_with_full_control_passes_as_it_is() -> None:
    sources = [Source(url="https://a", title="A")]
    result = ToolResult({"n": 1}, is_error=True, subscription=True, sources=sources, state_patch={"k": NAN})
    assert to_result(result) is result
    assert result.content == (JsonBlock(data={"n": 1}),)
    assert (result.sources, result.state_patch) == (tuple(sources), {"k": "NaN"})


_leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
_values = st.recursive(
    _leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner), max_leaves=20
)


@given(_values)
def test_whatever_is_returned_can_be_stored_and_shown(value: object) -> None:
    result = to_result(value)
    assert result.content
    for block in result.content:
        written = json.dumps(block.to_json(), allow_nan=False, ensure_ascii=False)
        written.encode("utf-8")
        assert not isinstance(block, TextBlock) or block.text.strip()
