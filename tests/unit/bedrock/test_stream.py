"""Events of every shape and order: what comes out is whole, or the stream counts as cut off."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.chunks import CallChunk, Chunk, Completed
from core.errors import ModelRefused, ModelUnavailable
from infra.arguments import arguments_of
from infra.bedrock.stream import ConverseStream

Event = dict[str, Any]

anything = st.recursive(
    st.one_of(st.none(), st.integers(), st.text(max_size=5), st.binary(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=3,
)
indexes = st.integers(0, 2)
arguments = st.sampled_from(['{"a": 1}', "{", "}", '"a": 1', "", "[]", "null", "NaN"])
deltas = st.one_of(
    st.text(max_size=3).map(lambda text: {"text": text}),
    arguments.map(lambda text: {"toolUse": {"input": text}}),
    st.sampled_from(
        [{"text": "hm"}, {"signature": "s"}, {"redactedContent": b"\x00"}, {"of": "tomorrow"}]
    ).map(lambda piece: {"reasoningContent": piece}),
    anything.map(lambda value: {"text": value}),
)
starts = st.sampled_from([{"toolUse": {"name": "search", "toolUseId": "x"}}, {}, {"image": {}}])
reasons = st.sampled_from(["tool_use", "end_turn", "max_tokens", "of_tomorrow"])
events: st.SearchStrategy[Event] = st.one_of(
    st.just({"messageStart": {"role": "assistant"}}),
    st.builds(
        lambda at, start: {"contentBlockStart": {"contentBlockIndex": at, "start": start}}, indexes, starts
    ),
    st.builds(
        lambda at, delta: {"contentBlockDelta": {"contentBlockIndex": at, "delta": delta}}, indexes, deltas
    ),
    indexes.map(lambda at: {"contentBlockStop": {"contentBlockIndex": at}}),
    reasons.map(lambda reason: {"messageStop": {"stopReason": reason}}),
    st.one_of(st.none(), anything).map(lambda usage: {"metadata": {"usage": usage}}),
    st.dictionaries(st.sampled_from(["messageStop", "metadata", "x", "yException"]), anything, max_size=1),
)


def read(given_events: list[Event]) -> list[Chunk]:
    """Up to the end marker, as the model reads."""
    stream, chunks = ConverseStream("bedrock:m"), list[Chunk]()
    for event in given_events:
        for chunk in stream.read(event):
            chunks.append(chunk)
            if isinstance(chunk, Completed):
                return chunks
    return [*chunks, *stream.end()]


def whole_calls(given_events: list[Event]) -> list[dict[str, Any]]:
    """The arguments of every call that has begun and ended with an object, or with nothing, by a reading of its own."""
    open_calls: dict[int, str] = {}
    found = []
    for event in given_events:
        match event:
            case {"contentBlockStart": {"contentBlockIndex": index, "start": {"toolUse": _}}}:
                open_calls[index] = ""
            case {
                "contentBlockDelta": {"contentBlockIndex": index, "delta": {"toolUse": {"input": str(text)}}}
            }:
                open_calls[index] = open_calls.get(index, "") + text
            case {"contentBlockStop": {"contentBlockIndex": index}} if index in open_calls:
                found.append(open_calls.pop(index))
    return [json.loads(text or "{}") for text in found if text in ("", '{"a": 1}')]


@given(st.lists(events, max_size=12))
def test_nothing_half_received_comes_out_of_any_stream(given_events: list[Event]) -> None:
    try:
        chunks = read(given_events)
    except (ModelUnavailable, ModelRefused):
        return
    assert [type(chunk) for chunk in chunks].count(Completed) == 1
    assert isinstance(chunks[-1], Completed)
    objects = [
        chunk.arguments
        for chunk in chunks
        if isinstance(chunk, CallChunk) and isinstance(chunk.arguments, dict)
    ]
    possible = whole_calls(given_events)
    assert [one for one in objects if one not in possible] == []


@given(st.text(max_size=20))
def test_arguments_are_an_object_or_the_text_itself(text: str) -> None:
    read_as = arguments_of(text)
    assert isinstance(read_as, dict) or read_as == (text if text.strip() else "")


@given(
    st.dictionaries(
        st.text(max_size=3),
        st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=3)),
    )
)
def test_no_beginning_of_an_object_is_an_object(value: dict[str, Any]) -> None:
    text = json.dumps(value)
    assert arguments_of(text) == json.loads(text)
    assert all(isinstance(arguments_of(text[:size]), str) for size in range(len(text)))
