"""The turn buffer as entries: cleaned, under ids of ours, and nothing blank among them."""

from typing import Any

import pytest

from core.chunks import CallChunk, Chunk, Completed, ReasoningBlock, TextChunk
from core.entries import Entry, Reasoning, ToolCall
from core.errors import MisuseError
from core.history.buffer import MAX_ARGUMENTS_DEPTH, TurnBuffer
from tests.support.lines import lines


def _entries(*chunks: Chunk, thread_id: str = "t1", birth: str = "b", first_seq: int = 1) -> list[Entry]:
    buffer = TurnBuffer()
    for chunk in chunks:
        buffer.add(chunk)
    return buffer.as_entries(thread_id, birth, first_seq)


def _call_id(name: str, arguments: Any, *before: Chunk, **where: Any) -> str:
    call = _entries(*before, CallChunk(name, arguments), **where)[-1]
    assert isinstance(call, ToolCall)
    return call.call_id


def test_blank_text_is_left_out_and_seqs_have_no_gap() -> None:
    entries = _entries(
        TextChunk(" "), ReasoningBlock("hm", "s"), TextChunk("\n"), CallChunk("a", {}), TextChunk("end")
    )
    assert lines(entries) == ["Reason(hm, s)", "Call(a, {})", "Asst(end)"]
    assert [entry.seq for entry in entries] == [1, 2, 3]


def test_text_and_reasoning_are_cleaned_after_they_are_whole() -> None:
    entries = _entries(TextChunk("a\ud83d"), TextChunk("\ude00\x00"), ReasoningBlock("\ud800", "s"))
    assert lines(entries[:1]) == ["Asst(a\ufffd\ufffd\ufffd)"]
    assert isinstance(entries[1], Reasoning)
    assert entries[1].text == "\ufffd"


def test_a_calls_id_covers_thread_birth_seq_position_name_and_arguments() -> None:
    ids = [
        _call_id("a", {}),
        _call_id("b", {}),
        _call_id("a", {"x": 1}),
        _call_id("a", "{}"),
        _call_id("a", {}, first_seq=2),
        _call_id("a", {}, thread_id="t2"),
        _call_id("a", {}, birth="c"),
        _call_id("a", {}, CallChunk("a", {})),
    ]
    assert len(set(ids)) == len(ids)
    assert all(len(call_id) <= 64 for call_id in ids)
    assert _call_id("a", {}) == ids[0]


@pytest.mark.parametrize(
    ("named", "stored"), [("a b", "a_b"), ("", "unnamed"), ("é" * 70, "_" * 64), ("ok-1", "ok-1")]
)
def test_a_name_is_brought_into_the_alphabet(named: str, stored: str) -> None:
    assert lines(_entries(CallChunk(named, {}))) == [f"Call({stored}, {{}})"]


@pytest.mark.parametrize(
    ("arguments", "args", "raw"),
    [
        ({"x": [1, None]}, {"x": [1, None]}, None),
        ({"x": float("nan"), "y\x00": "\x1b"}, {"x": "NaN", "y\ufffd": "\ufffd"}, None),
        ('["a"]', {}, '["a"]'),
        ("half \ud800", {}, "half \ufffd"),
        ({"x": object}, {}, "(an object that is not JSON)"),
        ({"x": 10**5000}, {}, "(an object that is not JSON)"),
    ],
)
def test_arguments_become_what_can_be_stored(arguments: Any, args: Any, raw: str | None) -> None:
    (call,) = _entries(CallChunk("a", arguments))
    assert isinstance(call, ToolCall)
    assert (call.args, call.raw_args) == (args, raw)


@pytest.mark.parametrize("levels", [MAX_ARGUMENTS_DEPTH, MAX_ARGUMENTS_DEPTH + 1, 5000])
def test_arguments_nested_without_end_are_not_kept(levels: int) -> None:
    arguments: dict[str, Any] = {}
    for _ in range(levels - 1):
        arguments = {"a": arguments}
    (call,) = _entries(CallChunk("a", arguments))
    assert isinstance(call, ToolCall)
    assert (call.raw_args is None) == (levels <= MAX_ARGUMENTS_DEPTH)
    assert call.to_json()["kind"] == "tool_call"


def test_after_the_end_marker_only_flushing_or_discarding_goes_on() -> None:
    buffer = TurnBuffer()
    buffer.add(Completed())
    buffer.add(TextChunk("a"))
    buffer.add(Completed())
    with pytest.raises(MisuseError):
        buffer.add(TextChunk("b"))
    assert buffer.items == (TextChunk("a"),)
    buffer.discard()
    buffer.add(TextChunk("b"))
    assert buffer.items == (TextChunk("b"),)


def test_signed_reasoning_stays_as_it_came() -> None:
    (signed, unsigned) = _entries(ReasoningBlock("bell\x07", "s"), ReasoningBlock("bell\x07"))
    assert isinstance(signed, Reasoning)
    assert isinstance(unsigned, Reasoning)
    assert signed.text == "bell\x07"
    assert unsigned.text == "bell\ufffd"
