"""Bodies from anywhere become inputs, or are refused with a reason that names the field."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.blocks import DocumentBlock, JsonBlock, TextBlock
from core.errors import Refused
from core.messages import Cancel, Envelope, Input, Message, Timer, ToolResultMessage, UserMessage
from core.parsing import BLANK_NOTE, MAX_BODY_DEPTH, parse_input, thread_of
from tests.unit.test_text import anything, json_values

HERE = Envelope("sqs-1", None)
HELLO = {"type": "user_message", "thread_id": "t1", "content": "hello"}


def _parsed(**fields: Any) -> Input:
    return parse_input(json.dumps({**HELLO, **fields}), HERE)


def _refused(body: str, envelope: Envelope = HERE) -> str:
    with pytest.raises(Refused) as refused:
        parse_input(body, envelope)
    assert refused.value.code == "invalid"
    return refused.value.reason


def test_a_string_is_one_text_block() -> None:
    message = _parsed().message
    assert isinstance(message, UserMessage)
    assert (message.thread_id, message.content) == ("t1", (TextBlock(text="hello"),))


def test_the_id_is_the_messages_own_or_the_transports() -> None:
    assert _parsed().message_id == "sqs-1"
    assert _parsed(message_id="m1").message_id == "m1"


def test_the_envelope_is_kept_with_the_body() -> None:
    body = json.dumps(HELLO)
    parsed = parse_input(body, Envelope("sqs-1", "t1", sender="AIDA"))
    assert (parsed.sender, parsed.body, parsed.key.type) == ("AIDA", body, "user_message")


@pytest.mark.parametrize(
    "blank", ["", "  \n", [], [{"type": "text", "text": " "}], [{"type": "text", "text": ""}] * 2]
)
def test_blank_content_is_replaced_by_a_note(blank: Any) -> None:
    message = _parsed(content=blank).message
    assert isinstance(message, UserMessage)
    assert message.content == (TextBlock(text=BLANK_NOTE),)


def test_blank_blocks_beside_others_are_left_out() -> None:
    image = {"type": "image", "media_type": "image/png", "data": "aGk="}
    message = _parsed(content=[{"type": "text", "text": " "}, image]).message
    assert isinstance(message, UserMessage)
    assert [block.type for block in message.content] == ["image"]


@pytest.mark.parametrize("content", [None, True, 7, 0.5, {"a": [1, None]}])
def test_a_results_json_value_is_a_block(content: Any) -> None:
    body = {"type": "tool_result", "thread_id": "t1", "call_id": "c", "content": content}
    message = parse_input(json.dumps(body), HERE).message
    assert isinstance(message, ToolResultMessage)
    assert message.content == (JsonBlock(data=content),)


def test_text_is_cleaned_at_the_edge() -> None:
    message = _parsed(content="a\x00b\ud800", metadata={"k\x1b": "\uffff"}).message
    assert isinstance(message, UserMessage)
    assert message.content == (TextBlock(text="a\ufffdb\ufffd"),)
    assert message.metadata == {"k\ufffd": "\ufffd"}


def test_the_digest_is_of_the_types_own_fields() -> None:
    same = [_parsed(), _parsed(message_id="m"), _parsed(metadata={"a": 1}), _parsed(v=1), _parsed(surplus=1)]
    assert len({parsed.body_digest for parsed in same}) == 1
    others = [_parsed(), _parsed(content="hello!"), _parsed(on_busy="queue"), _parsed(agent="a")]
    assert len({parsed.body_digest for parsed in others}) == 4


BAD: dict[str, tuple[Any, str]] = {
    "not an object": ([], "body"),
    "no type": ({"thread_id": "t1"}, "type"),
    "unknown type": ({**HELLO, "type": "shout"}, "type"),
    "an older or newer version": ({**HELLO, "v": 2}, "v"),
    "no thread": ({"type": "cancel"}, "thread_id"),
    "a thread id outside the alphabet": ({**HELLO, "thread_id": "a b"}, "thread_id"),
    "a thread id over the limit": ({**HELLO, "thread_id": "x" * 101}, "thread_id"),
    "an empty message id": ({**HELLO, "message_id": ""}, "message_id"),
    "a message id over the limit": ({**HELLO, "message_id": "x" * 129}, "message_id"),
    "no content": ({"type": "user_message", "thread_id": "t1"}, "content"),
    "content of a wrong type": ({**HELLO, "content": 7}, "content"),
    "an unknown block": ({**HELLO, "content": [{"type": "video"}]}, "content.0"),
    "a block only the store writes": (
        {**HELLO, "content": [{"type": "stored", "s3": "s3://b/k", "size_bytes": 1}]},
        "content.0",
    ),
    "a surplus field in a block": (
        {**HELLO, "content": [{"type": "text", "text": "a", "b": 1}]},
        "content.0",
    ),
    "an image with two sources": (
        {
            **HELLO,
            "content": [{"type": "image", "media_type": "image/png", "data": "aGk=", "s3": "s3://b/k"}],
        },
        "content.0",
    ),
    "metadata of a wrong type": ({**HELLO, "metadata": "u1"}, "metadata"),
    "an unknown policy": ({**HELLO, "on_busy": "panic"}, "on_busy"),
    "a result without call": ({"type": "tool_result", "thread_id": "t1", "content": "x"}, "call_id"),
    "a text block without its text": ({**HELLO, "content": [{"type": "text"}]}, "content.0"),
    "a word where a yes or no belongs": (
        {"type": "tool_result", "thread_id": "t1", "call_id": "c", "content": "x", "is_error": "yes"},
        "is_error",
    ),
    "a number where a text belongs": ({**HELLO, "message_id": 7}, "message_id"),
    "a message id that another could become": ({**HELLO, "message_id": "a\x00"}, "message_id"),
    "a local time": ({"type": "timer", "thread_id": "t1", "due_at": "2025-01-01T00:00:00"}, "due_at"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_refused_naming_the_field(case: str) -> None:
    body, field = BAD[case]
    assert _refused(json.dumps(body)).startswith(f"{field}")


@pytest.mark.parametrize("body", ["", "{", "nul", '{"a": 1} x', "\ufeff{}", "1" * 5000, "[" * 100_000])
def test_what_is_not_json_is_refused(body: str) -> None:
    assert _refused(body).startswith("body")


def test_the_group_must_be_the_thread() -> None:
    assert _refused(json.dumps(HELLO), Envelope("x", "t2")).startswith("thread_id")
    assert parse_input(json.dumps(HELLO), Envelope("x", "t1")).message.thread_id == "t1"


def test_a_reason_never_holds_the_content() -> None:
    secret = "hunter2"
    for body, _ in BAD.values():
        text = json.dumps(body).replace("hello", secret).replace("panic", secret).replace("shout", secret)
        assert secret not in _refused(text)


@pytest.mark.parametrize("levels", [50, MAX_BODY_DEPTH - 4, MAX_BODY_DEPTH, 300, 600, 5000])
def test_nesting_is_kept_or_refused_and_never_breaks(levels: int) -> None:
    content = '{"a":' * levels + "1" + "}" * levels
    body = f'{{"type":"tool_result","thread_id":"t1","call_id":"c","content":{content}}}'
    if levels <= MAX_BODY_DEPTH - 4:
        assert parse_input(body, HERE).body_digest
    else:
        assert _refused(body).startswith("body")


@given(st.one_of(anything, st.binary().map(lambda raw: raw.decode("latin-1")), json_values.map(json.dumps)))
def test_any_text_is_an_input_or_refused(body: str) -> None:
    with suppress(Refused):
        assert parse_input(body, HERE).message_id
    thread_of(body)


_fields = st.one_of(json_values, st.sampled_from(["t1", "t1~c", "queue", "2025-01-01T00:00:00Z"]))
_names = [
    "v",
    "thread_id",
    "message_id",
    "metadata",
    "content",
    "on_busy",
    "agent",
    "call_id",
    "is_error",
    "due_at",
]
_types = st.sampled_from(["user_message", "tool_result", "cancel", "close", "wake", "timer"])


@given(_types, st.dictionaries(st.sampled_from([*_names, "sources", "state_patch", "subscription"]), _fields))
def test_any_object_is_an_input_or_refused(kind: str, fields: dict[str, Any]) -> None:
    body = json.dumps({"type": kind, "thread_id": "t1", "call_id": "c", "content": "x", **fields})
    with suppress(Refused):
        one, other = parse_input(body, HERE), parse_input(body, HERE)
        assert (one.message, one.body_digest) == (other.message, other.body_digest)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (json.dumps({**HELLO, "message_id": "m1", "v": 9}), ("t1", "m1")),
        (json.dumps({**HELLO, "thread_id": "a b", "message_id": ""}), (None, None)),
        (json.dumps({"thread_id": 7, "message_id": ["x"]}), (None, None)),
        ("nonsense", (None, None)),
        ("[]", (None, None)),
    ],
)
def test_a_refused_body_still_names_its_thread_if_it_can(
    body: str, named: tuple[str | None, str | None]
) -> None:
    assert thread_of(body) == named


def test_types_are_told_apart() -> None:
    due = {"due_at": "2025-01-01T02:00:00+02:00"}
    messages: list[Message] = [
        parse_input(json.dumps({"type": kind, "thread_id": "t1", **fields}), HERE).message
        for kind, fields in [("cancel", {}), ("timer", due)]
    ]
    cancel, timer = messages
    assert isinstance(cancel, Cancel)
    assert isinstance(timer, Timer)
    assert timer.due_at.utcoffset() is not None


def test_a_document_is_one_block() -> None:
    block = {"type": "document", "media_type": "text/plain", "name": "a.txt", "data": "aGk="}
    message = _parsed(content=[block]).message
    assert isinstance(message, UserMessage)
    assert message.content == (DocumentBlock(media_type="text/plain", name="a.txt", data="aGk="),)
