"""What a tool sees of its call, and what it leaves behind."""

from datetime import UTC, datetime
from typing import Any

import pytest

from core import DefinitionError, Source, ToolContext
from core.tools.context import merge_patches


def test_a_context_for_a_test_needs_nothing() -> None:
    ctx = ToolContext.for_test()
    assert ctx.thread_stack == (ctx.root_thread_id,) == (ctx.thread_id,)
    assert (ctx.user_id, ctx.metadata, ctx.state) == (None, {}, None)
    assert ctx.deadline > datetime(2100, 1, 1, tzinfo=UTC)


def test_a_context_for_a_test_of_a_child() -> None:
    ctx = ToolContext.for_test(thread_id="r~c", root_thread_id="r")
    assert ctx.thread_stack == ("r", "r~c")
    assert ToolContext.for_test(thread_id="r~c", thread_stack=("r", "r~b", "r~c")).root_thread_id == "r"


def test_sources_are_collected_in_order_and_made_to_fit() -> None:
    ctx = ToolContext.for_test()
    ctx.add_source("https://a", "A", "first")
    ctx.add_source("https://b", "B" * 10_000, "\x00" * 10_000)
    first, second = ctx.sources
    assert first == Source(url="https://a", title="A", snippet="first")
    assert (len(second.title), len(second.snippet)) == (500, 2_000)
    assert "\x00" not in second.snippet


def test_patches_of_one_call_become_one() -> None:
    ctx = ToolContext.for_test()
    assert ctx.state_patch is None
    ctx.patch_state({"a": 1, "seen": {"x": True}})
    ctx.patch_state({"a": None, "seen": {"y": float("inf")}})
    assert ctx.state_patch == {"a": None, "seen": {"x": True, "y": "Infinity"}}


def test_what_a_tool_does_to_what_it_was_given_stays_with_it() -> None:
    metadata: dict[str, Any] = {"tags": ["a"]}
    ctx = ToolContext.for_test(metadata=metadata)
    ctx.metadata["tags"].append("b")
    (ctx.state_patch or {})["leak"] = 1
    assert metadata == {"tags": ["a"]}
    assert ctx.state_patch is None


def test_a_deadline_without_a_zone_is_refused() -> None:
    with pytest.raises(DefinitionError):
        ToolContext.for_test(deadline=datetime(2026, 1, 1))  # noqa: DTZ001 - the mistake under test


def _applied(target: Any, patch: Any) -> Any:
    """RFC 7386, section 2, word for word."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _applied(result.get(key), value)
    return result


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"a": 1}, {"b": 2}),
        ({"a": 1}, {"a": 2}),
        ({"a": {"x": 1}}, {"a": {"y": None, "x": 2}}),
        ({"a": {"x": 1}}, {"a": None}),
        ({"a": {"x": 1}}, {"a": [1]}),
        ({"a": None}, {"a": 3}),
    ],
    ids=str,
)
def test_a_merged_patch_does_what_the_two_do_one_after_the_other(first: Any, second: Any) -> None:
    for target in ({}, {"a": 7}, {"a": {"x": 0, "y": 0, "z": 0}, "b": 0}):
        both = _applied(_applied(target, first), second)
        assert _applied(target, merge_patches(first, second)) == both


@pytest.mark.parametrize("earlier", [None, 1, [1]], ids=str)
def test_patches_that_no_single_patch_can_say_are_refused(earlier: Any) -> None:
    with pytest.raises(ValueError, match="a"):
        merge_patches({"a": earlier}, {"a": {"x": 1}})
