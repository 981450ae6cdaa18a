"""`HistoryManager` has the names that contract.md, "As a library", promises, and waits only where that says so."""

import inspect

import pytest

from core.history import HistoryManager

AWAITS = {"new_with_history": ["store", "thread_id", "message_ids"], "sync": ["self"]}
CALLS = {
    "handle_content": ["self", "entry", "message_id"],
    "handle_completion": ["self", "chunk"],
    "flush_turn": ["self"],
    "flush_turn_trimming_reasoning": ["self"],
    "discard_turn": ["self"],
    "current_turn_view": ["self"],
    "apply_compaction": ["self", "summary"],
    "safe_spawn_point": ["self"],
    "take_interrupted_tool_calls": ["self"],
    "track_subscription": ["self", "call_id"],
    "remove_subscription": ["self", "call_id"],
}
PROPERTIES = (
    *("history", "pending_items", "turn_buffer", "active_subscriptions"),
    *("live_calls", "thread_stack", "thread_ancestors"),
)


@pytest.mark.parametrize("name", [*AWAITS, *CALLS])
def test_a_promised_method_takes_what_is_promised(name: str) -> None:
    promised = (AWAITS | CALLS)[name]
    parameters = inspect.signature(getattr(HistoryManager, name)).parameters
    assert list(parameters)[: len(promised)] == promised
    beyond = list(parameters.values())[len(promised) :]
    assert all(parameter.default is not inspect.Parameter.empty for parameter in beyond)


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_promised_property_is_one(name: str) -> None:
    assert isinstance(inspect.getattr_static(HistoryManager, name), property)


def test_loading_and_sync_are_the_only_awaits() -> None:
    members = inspect.getmembers(HistoryManager, inspect.iscoroutinefunction)
    assert {name for name, _ in members if not name.startswith("_")} == {*AWAITS, "inherit"}
