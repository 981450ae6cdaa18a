"""Settings and limits: the promised defaults, and mistakes found when they are written."""

import dataclasses
from typing import Any

import pytest

from core import DefinitionError, Limits, Settings


def test_the_defaults_of_the_contract() -> None:
    limits = Limits()
    assert (limits.rounds_per_slice, limits.turns_per_user_input) == (20, 50)
    assert (limits.spawn_depth, limits.open_children, limits.spawns_per_turn) == (4, 20, 20)
    assert (limits.tokens, limits.result_characters) == (1_000_000, 100_000)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Limits)])
@pytest.mark.parametrize("value", [0, -1, 1.5, True, None, "20"], ids=repr)
def test_a_limit_that_is_no_whole_number_above_0_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(DefinitionError, match=name):
        Limits(**{name: value})


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("temperature", [None, 0, 0.7, 1], [-0.1, float("nan"), "hot", True]),
        ("max_output_tokens", [1], [0, 1.5, None]),
        ("context_window", [None, 8_000], [0, -1, "big"]),
        ("compaction_share", [0.01, 1], [0, 1.01, float("nan"), None]),
        ("reasoning_tokens", [None, 1_024, 4_095], [0, 1_023, 4_096, 2_048.5, "2048", True]),
        (
            "guardrail",
            [None, "abc:1", "arn:aws:bedrock:x:1:guardrail/a:DRAFT"],
            ["abc", ":1", "abc:", "a b:1", 5],
        ),
    ],
)
def test_settings_take_what_makes_sense_and_refuse_the_rest_by_name(
    name: str, good: list[Any], bad: list[Any]
) -> None:
    for value in good:
        assert getattr(Settings(**{name: value}), name) == value
    for value in bad:
        with pytest.raises(DefinitionError, match=name):
            Settings(**{name: value})
