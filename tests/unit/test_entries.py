"""Entries as clients read them: the fields of contract.md, "Entries", absent ones left out."""

from datetime import UTC, datetime
from typing import Any

import pytest

from core.blocks import text_content
from core.entries import (
    ENTRY,
    AppEntry,
    Assistant,
    Entry,
    Event,
    Reasoning,
    ToolCall,
    ToolResult,
    TurnEnd,
    User,
    entry_dict,
)

HELLO = text_content("hello")
BLOCKS = [{"type": "text", "text": "hello"}]
READ: list[tuple[Entry, dict[str, Any]]] = [
    (User(content=HELLO, metadata={"user_id": "u"}), {"content": BLOCKS, "metadata": {"user_id": "u"}}),
    (Assistant(text="hi"), {"text": "hi"}),
    (Reasoning(text="hm", signature="s", model="m"), {"text": "hm", "signature": "s", "model": "m"}),
    (Reasoning(redacted="cmVk", model="m"), {"text": "", "redacted": "cmVk", "model": "m"}),
    (ToolCall(call_id="c", name="n", args={"a": 1}), {"call_id": "c", "name": "n", "args": {"a": 1}}),
    (
        ToolCall(call_id="c", name="n", raw_args="[1"),
        {"call_id": "c", "name": "n", "args": {}, "raw_args": "[1"},
    ),
    (
        ToolResult(call_id="c", content=HELLO, outcome="timed_out"),
        {"call_id": "c", "content": BLOCKS, "outcome": "timed_out"},
    ),
    (
        Event(call_id="c", name="n", args={"a": 1}, child_thread_id="t~1", content=HELLO),
        {"call_id": "c", "name": "n", "args": {"a": 1}, "child_thread_id": "t~1", "content": BLOCKS},
    ),
    (TurnEnd(reason="limit"), {"reason": "limit"}),
    (AppEntry(role="note", content=HELLO), {"role": "note", "content": BLOCKS}),
]


@pytest.mark.parametrize(("entry", "own"), READ)
def test_an_entry_has_the_fields_of_the_contract(entry: Entry, own: dict[str, Any]) -> None:
    at = datetime(2026, 3, 8, 12, 0, tzinfo=UTC)
    numbered = entry.model_copy(update={"seq": 7, "at": at, "message_id": "m1"})
    read = entry_dict(numbered)
    assert read == {"kind": entry.kind, "seq": 7, "at": "2026-03-08T12:00:00Z", "message_id": "m1", **own}
    assert ENTRY.validate_python(read) == numbered
