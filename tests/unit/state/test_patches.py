"""Patches of a state by JSON merge patch: what they change, and that one which does not fit changes nothing."""

from typing import Any

import pytest
from pydantic import field_validator

from core.state import AgentState, GlobalState, StateUnfit
from core.state.edits import apply_edits, edits_between
from core.state.stored import merged, patched
from tests.support.states import Foreign, Mine, Plain, Renamed


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [  # RFC 7386, appendix A
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_a_merge_patch_is_what_its_standard_says(target: Any, patch: Any, result: Any) -> None:
    assert merged(target, patch) == result


@pytest.mark.parametrize("state_type", [Mine, None])
def test_a_patch_changes_what_it_names(state_type: type[Any] | None) -> None:
    stored = {"count": 1, "profile": {"name": "a", "tags": ["x"]}, "note": "n", "gone": 1}
    edits = patched(state_type, stored, {"count": 5, "profile": {"name": "b"}})
    changed = apply_edits(stored, edits)
    assert changed == {**stored, "count": 5, "profile": {"name": "b", "tags": ["x"]}}
    assert patched(state_type, changed, {"count": 5}) == ()


def test_a_patch_of_null_gives_a_field_its_default() -> None:
    stored = {"count": 1, "profile": {"name": "a", "tags": []}, "note": "n"}
    changed = apply_edits(stored, patched(Mine, stored, {"count": None, "note": None}))
    assert changed == {"count": 0, "profile": {"name": "a", "tags": []}, "note": "none yet"}


@pytest.mark.parametrize(
    ("state_type", "patch"),
    [
        (Mine, {"count": "many"}),
        (Mine, {"count": 1, "cuont": 2}),
        (Mine, {"profile": {"tags": "x"}}),
        (Mine, {"messages": []}),
        (Mine, {"message_history": []}),
        (AgentState, {"sources": []}),
        (AgentState, {"step": None, "query": 3}),
        (Foreign, {"other": 1}),
        (Plain, {"message_history": []}),
        (None, {"big": "x" * 300_000}),
    ],
)
def test_a_patch_that_does_not_fit_is_told(state_type: type[Any] | None, patch: dict[str, Any]) -> None:
    with pytest.raises(StateUnfit):
        patched(state_type, None, patch)


def test_errors_of_the_authors_code_name_no_values() -> None:
    class Picky(GlobalState):
        word: str = ""

        @field_validator("word")
        @classmethod
        def _check(cls, word: str) -> str:
            if word:
                raise KeyError("unlucky")
            return word

    with pytest.raises(StateUnfit, match="KeyError"):
        patched(Picky, None, {"word": "secret"})
    with pytest.raises(StateUnfit) as caught:
        patched(Mine, None, {"count": "secret"})
    assert "secret" not in str(caught.value)


def test_a_patch_of_an_older_shape_stores_todays() -> None:
    assert patched(Renamed, {"count": 3}, {"total": 5}) == edits_between({"count": 3}, {"total": 5})


def test_a_stored_state_that_fits_no_more_is_not_patched() -> None:
    with pytest.raises(StateUnfit):
        patched(Mine, {"count": "many"}, {})
