"""Cleaning of outside text and JSON, and the forms Torpor writes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text import canonical_json, clean_json, clean_text, is_deeper_than, shorten, wire_json

anything = st.text(st.characters(exclude_categories=()))
"""Lone surrogates, controls and non-characters included."""
numbers = st.one_of(st.none(), st.booleans(), st.integers(), st.floats())
json_values = st.recursive(
    st.one_of(numbers, anything),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(anything, inner, max_size=4)),
    max_leaves=12,
)


def _sqs_takes(text: str) -> bool:
    """#x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF"""
    return all(
        code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
        for code in map(ord, text)
    )


def _strings(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for key, item in value.items() for text in [key, *_strings(item)]]
        case list():
            return [text for item in value for text in _strings(item)]
        case _:
            return []


@given(anything)
def test_cleaned_text_is_carried_by_every_hop_and_stays_as_it_is(text: str) -> None:
    cleaned = clean_text(text)
    assert _sqs_takes(cleaned)
    assert len(cleaned) == len(text)
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert clean_text(cleaned) == cleaned
    assert all(after in (before, "\ufffd") for before, after in zip(text, cleaned, strict=True))


@pytest.mark.parametrize(
    "bad",
    [
        "\x00",
        "\x1b",
        "\x0b",
        "\ud800",
        "\ufffe",
        "\uffff",
        "\ufdd0",
        "\ufdef",
        "\U0001fffe",
        "\U0010ffff",
    ],
)
def test_what_cannot_be_carried_is_replaced_not_dropped(bad: str) -> None:
    assert clean_text(f"a{bad}b") == "a\ufffdb"


@pytest.mark.parametrize(
    "fine", ["\t\n\r", "\u202e", "\ue000", "\ufdcf", "\ufdf0", "😀", "\x7f", "\x85", "\ufffd"]
)
def test_what_can_be_carried_stays(fine: str) -> None:
    assert clean_text(fine) == fine


@given(json_values)
def test_cleaned_json_is_valid_everywhere_and_stays_as_it_is(value: Any) -> None:
    cleaned = clean_json(value)
    assert clean_json(cleaned) == cleaned
    assert json.loads(canonical_json(cleaned)) == cleaned
    assert all(_sqs_takes(text) for text in _strings(cleaned))
    assert json.loads(wire_json(cleaned)) == cleaned
    assert wire_json(cleaned).isascii()


def test_numbers_that_json_lacks_become_text() -> None:
    assert clean_json([float("nan"), float("inf"), -float("inf"), 0.1, 2**63]) == [
        "NaN",
        "Infinity",
        "-Infinity",
        0.1,
        2**63,
    ]


@given(st.dictionaries(st.text(), st.integers()))
def test_canonical_json_is_one_text_per_value(value: dict[str, int]) -> None:
    backwards = dict(reversed(value.items()))
    assert canonical_json(value) == canonical_json(backwards)


@given(json_values, st.integers(0, 6))
def test_depth_is_counted_in_levels_of_lists_and_objects(value: Any, levels: int) -> None:
    def depth(value: Any) -> int:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
        return 0 if inner is None else 1 + max(map(depth, inner), default=0)

    assert is_deeper_than(value, levels) == (depth(value) > levels)


def test_depth_is_told_of_what_no_recursion_could_walk() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    assert is_deeper_than(value, 100)
    while value:
        value = value[0]


@given(st.text(), st.integers(0, 20))
def test_shortened_text_fits_and_says_so(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= max(limit, 1)
    assert short == text if len(text) <= limit else short.endswith("…")
