"""Derived ids and the alphabets of ids from outside."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import ids

json_parts = st.lists(
    st.one_of(st.text(), st.integers(), st.none(), st.lists(st.text(), max_size=2)), max_size=4
)


@given(json_parts, json_parts)
def test_a_digest_is_of_the_parts_and_their_boundaries(one: list[Any], other: list[Any]) -> None:
    assert (ids.digest(*one) == ids.digest(*other)) == (one == other)
    assert ids.NAME.fullmatch(ids.digest(*one))
    assert len(ids.digest(*one)) == 26


def test_a_digest_never_changes() -> None:
    assert ids.digest("outbox", "t1", "abc", 0) == "eocjnt27yoov6lw3bbm5m3yy7y"


@pytest.mark.parametrize("good", ["a", "A-Za-z0-9_.:-", "x" * 100, "root~c", "x" * 100 + "~" + "c" * 27])
def test_thread_ids(good: str) -> None:
    assert ids.is_thread_id(good)
    assert ids.is_child(good) == ("~" in good)
    assert ids.root_of(good) == good.partition("~")[0]


@pytest.mark.parametrize(
    "bad",
    ["", "x" * 101, "a b", "a\n", "é", "~c", "root~", "root~a~b", "root~" + "c" * 28, "root~a.b", "a/b", "#"],
)
def test_what_is_no_thread_id(bad: str) -> None:
    assert not ids.is_thread_id(bad)


def test_different_causes_have_different_ids() -> None:
    made = [
        ids.birth_id("t", "m"),
        ids.birth_id("t", "n"),
        ids.birth_id("u", "m"),
        ids.outbox_id("t", "d", 0),
        ids.outbox_id("t", "d", 1),
        ids.outbox_id("t", "e", 0),
        ids.outbox_id("u", "d", 0),
    ]
    assert len(set(made)) == len(made)
