"""Edits of a JSON object: they make the new of the old, and are no larger than the change."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from core.state.edits import AppendAt, Edit, ExtendAt, RemoveAt, SetAt, apply_edits, edits_between
from core.text import same_json

LEAVES = (
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 2.5, "", "a", "ab", "abc"])
)
KEYS = st.sampled_from(["a", "b", "c", ""])
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
LONG = "x" * 99
EDITS: TypeAdapter[tuple[Edit, ...]] = TypeAdapter(tuple[Edit, ...])


@given(OBJECTS, OBJECTS)
@settings(max_examples=200)
def test_edits_make_the_new_of_the_old(old: dict[str, Any], new: dict[str, Any]) -> None:
    before = json.dumps([old, new])
    edits = edits_between(old, new)
    stored = json.loads(json.dumps([edit.to_json() for edit in edits]))
    made = apply_edits(old, EDITS.validate_python(stored))
    assert same_json(made, new)
    assert (edits == ()) == same_json(old, new)
    assert json.dumps([old, new]) == before


@pytest.mark.parametrize(
    ("old", "new", "edits"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, [SetAt(path=("b",), value=3)]),
        ({"a": 1, "b": 2}, {"a": 1}, [RemoveAt(path=("b",))]),
        ({}, {"a": None}, [SetAt(path=("a",), value=None)]),
        ({"a": None}, {}, [RemoveAt(path=("a",))]),
        ({"a": 1}, {"a": True}, [SetAt(path=("a",), value=True)]),
        ({"a": 1}, {"a": 1.0}, [SetAt(path=("a",), value=1.0)]),
        ({"a": {"b": {"c": LONG, "d": 1}}}, {"a": {"b": {"c": LONG, "d": 2}}}, [SetAt(path=("a", "b", "d"), value=2)]),
        ({"a": [LONG]}, {"a": [LONG, 1, [2]]}, [AppendAt(path=("a",), items=(1, [2]))]),
        ({"a": LONG}, {"a": LONG + "yz"}, [ExtendAt(path=("a",), text="yz")]),
        ({"a": [LONG, {"b": 1}]}, {"a": [LONG, {"b": 2}]}, [SetAt(path=("a", 1, "b"), value=2)]),
        ({"a": [1, 2, 3]}, {"a": [1, 2]}, [SetAt(path=("a",), value=[1, 2])]),
        ({"a": [1]}, {"a": {"0": 1}}, [SetAt(path=("a",), value={"0": 1})]),
    ],
)  # fmt: skip
def test_an_edit_says_no_more_than_the_change(
    old: dict[str, Any], new: dict[str, Any], edits: list[Edit]
) -> None:
    assert list(edits_between(old, new)) == edits


def test_what_is_written_does_not_grow_with_what_is_there() -> None:
    state: dict[str, Any] = {"notes": "", "tasks": [], "by_id": {}}
    sizes: list[int] = []
    for number in range(100):
        after = json.loads(json.dumps(state))
        after["notes"] += f"note {number:03}\n"
        after["tasks"].append({"id": number, "done": False})
        after["tasks"][number // 2]["done"] = True
        after["by_id"][f"{number:03}"] = number
        edits = edits_between(state, after)
        sizes.append(len(json.dumps([edit.to_json() for edit in edits])))
        state = apply_edits(state, edits)
        assert same_json(state, after)
    assert max(sizes[50:]) <= max(sizes[1:50])
