"""Rendering: histories as the alternating messages a model is given, well-formed by the strict check."""

from collections.abc import Sequence

import pytest

from core.blocks import Block, DocumentBlock, ImageBlock, JsonBlock, StoredBlock, TextBlock, text_content
from core.entries import AppEntry, Assistant, Entry, Event, Reasoning, ToolCall, ToolResult, TurnEnd, User
from core.render import SUMMARY_HEAD, render, result_content
from core.request import (
    CallPart,
    JsonObject,
    ModelRequest,
    Part,
    ReasoningPart,
    RequestMessage,
    ResultPart,
    ToolSpec,
)
from core.strict import check_request
from core.thread import Summary
from core.tools import EVENT_TOOL_NAME

MODEL = "test:model"
LOOK = ToolSpec("look", "Look.", {"type": "object"})
IMAGE = ImageBlock(media_type="image/png", data="aGk=")


def _document(name: str) -> DocumentBlock:
    return DocumentBlock(media_type="text/plain", name=name, data="aGk=")


def _user(*blocks: Block | str) -> User:
    return User(content=tuple(TextBlock(text=block) if isinstance(block, str) else block for block in blocks))


def _call(call_id: str) -> ToolCall:
    return ToolCall(call_id=call_id, name="look", args={"at": call_id})


def _result(call_id: str, *blocks: Block | str) -> ToolResult:
    return ToolResult(call_id=call_id, content=_user(*blocks or ("out",)).content)


def _shown(
    entries: Sequence[Entry], summary: Summary | None = None, limit: int = 1000
) -> tuple[RequestMessage, ...]:
    """The messages, checked as every request is."""
    numbered = [entry.model_copy(update={"seq": seq}) for seq, entry in enumerate(entries, start=1)]
    messages = render(numbered, summary=summary, model=MODEL, result_characters=limit)
    check_request(ModelRequest(MODEL, messages, tools=(LOOK,)))
    return messages


def _roles(messages: Sequence[RequestMessage]) -> list[tuple[str, list[str]]]:
    return [(message.role, [_named(part) for part in message.parts]) for message in messages]


def _named(part: Part) -> str:
    match part:
        case TextBlock(text=text):
            return text
        case CallPart(call_id=call_id):
            return f"call {call_id}"
        case ResultPart(call_id=call_id, name=name, is_error=is_error):
            return f"{'error' if is_error else 'result'} {call_id} of {name}"
        case ReasoningPart(text=text):
            return f"reasoning {text}"
        case _:
            return part.type


def test_entries_of_one_role_are_one_message() -> None:
    turn: list[Entry] = [
        _user("a"),
        _user("b"),
        Reasoning(text="hm", signature="s"),
        Assistant(text="c"),
        _call("c1"),
        _result("c1"),
    ]
    assert _roles(_shown(turn)) == [
        ("user", ["a", "b"]),
        ("assistant", ["reasoning hm", "c", "call c1"]),
        ("user", ["result c1 of look"]),
    ]


def test_results_come_first_in_call_order_whatever_order_they_came_in() -> None:
    turn: list[Entry] = [
        _user("go"),
        _call("c1"),
        _call("c2"),
        _call("c3"),
        _result("c3"),
        _result("c1"),
        _result("c2"),
        _user("more"),
    ]
    assert _roles(_shown(turn))[-1] == (
        "user",
        ["result c1 of look", "result c2 of look", "result c3 of look", "more"],
    )


@pytest.mark.parametrize(
    ("outcome", "shown"),
    [
        ("ok", "result"),
        ("error", "error"),
        ("interrupted", "error"),
        ("timed_out", "error"),
        ("limit", "error"),
    ],
)
def test_what_did_not_go_well_is_an_error(outcome: str, shown: str) -> None:
    answered = _result("c1").model_copy(update={"outcome": outcome})
    assert _roles(_shown([_user("go"), _call("c1"), answered]))[-1][1] == [f"{shown} c1 of look"]


def test_turn_ends_and_an_applications_own_entries_are_never_shown() -> None:
    note = AppEntry(role="audit", content=text_content("secret"))
    turn: list[Entry] = [
        _user("a"),
        TurnEnd(reason="failed"),
        note,
        _user("b"),
        Assistant(text="c"),
        TurnEnd(reason="limit"),
        _user("d"),
    ]
    assert _roles(_shown(turn)) == [("user", ["a", "b"]), ("assistant", ["c"]), ("user", ["d"])]


@pytest.mark.parametrize(
    ("reasoning", "sent"),
    [
        (Reasoning(text="hm", signature="s", model=MODEL), True),
        (Reasoning(redacted="aGk=", model=MODEL), True),
        (Reasoning(text="hm", signature="s"), True),
        (Reasoning(text="hm", signature="s", model="other:model"), False),
        (Reasoning(text="hm", model=MODEL), False),
    ],
)
def test_a_model_takes_back_only_its_own_reasoning(reasoning: Reasoning, sent: bool) -> None:
    turn: list[Entry] = [_user("a"), reasoning, Assistant(text="b"), _user("c")]
    messages = _shown(turn)
    assert any(isinstance(part, ReasoningPart) for part in messages[1].parts) == sent
    assert [message.role for message in messages] == ["user", "assistant", "user"]


def test_a_summary_opens_the_conversation_as_the_users() -> None:
    summary = Summary(text="greeted", up_to_seq=4)
    assert _roles(_shown([_user("go")], summary)) == [("user", [SUMMARY_HEAD + "greeted", "go"])]
    assert _roles(_shown([Assistant(text="hi"), _user("go")], summary))[0] == (
        "user",
        [SUMMARY_HEAD + "greeted"],
    )


def test_an_event_is_a_call_and_its_result() -> None:
    event = Event(
        call_id="c1", name="watch", args={"topic": "t"}, content=text_content("tide"), child_thread_id="t1~c"
    )
    turn: list[Entry] = [_user("go"), Assistant(text="ok"), event, event]
    messages = _shown(turn)
    assert [message.role for message in messages] == ["user", "assistant", "user", "assistant", "user"]
    call, result = messages[1].parts[-1], messages[2].parts[0]
    assert isinstance(call, CallPart)
    assert isinstance(result, ResultPart)
    assert call.name == result.name == EVENT_TOOL_NAME
    assert call.args == {"call_id": "c1", "name": "watch", "args": {"topic": "t"}, "child_thread_id": "t1~c"}
    assert result.content == (TextBlock(text="tide"),)
    again = messages[3].parts[0]
    assert isinstance(again, CallPart)
    assert again.call_id != call.call_id


def test_user_content_is_shown_as_providers_take_it() -> None:
    gone = StoredBlock(s3="s3://b/k", size_bytes=9, note="(a picture)")
    unknown = StoredBlock(s3="s3://b/k", size_bytes=9)
    (message,) = _shown([_user("a", JsonBlock(data={"é": [1, None]}), IMAGE, gone, unknown)])
    assert [_named(part) for part in message.parts][:4] == ["a", '{"é": [1, null]}', "image", "(a picture)"]
    assert "no longer stored" in _named(message.parts[4])


def test_documents_of_the_same_name_twice_get_names_of_their_own_in_the_providers_alphabet() -> None:
    turn: list[Entry] = [
        _user(_document("tides.pdf"), _document("tides.pdf"), _document("über  uns/1"), _document("?")),
        _call("c1"),
        _result("c1", _document("tides.pdf"), _document(" " * 5), _document("x" * 200)),
    ]
    messages = _shown(turn)
    named = [part.name for part in messages[0].parts if isinstance(part, DocumentBlock)]
    assert named == ["tides-pdf", "tides-pdf (2)", "-ber uns-1", "-"]
    (result,) = messages[2].parts
    assert isinstance(result, ResultPart)
    inside = [block.name for block in result.content if isinstance(block, DocumentBlock)]
    assert inside == ["tides-pdf (3)", "document", "x" * 190]


def test_json_that_is_no_object_is_shown_as_text() -> None:
    content = (JsonBlock(data={"a": 1}), JsonBlock(data=[1]), JsonBlock(data=None), JsonBlock(data=""))
    assert result_content(content, 100) == (
        JsonObject({"a": 1}),
        TextBlock(text="[1]"),
        TextBlock(text="null"),
        TextBlock(text='""'),
    )


def test_of_a_long_result_a_bounded_part_is_shown_that_says_so() -> None:
    content = (TextBlock(text="a" * 60), TextBlock(text="b" * 60), IMAGE, TextBlock(text="c"))
    first, second, image, note = result_content(content, 100)
    assert (first, second) == (TextBlock(text="a" * 60), TextBlock(text="b" * 40))
    assert image == IMAGE
    assert isinstance(note, TextBlock)
    assert note.text.startswith("[21 ")


def test_a_result_at_its_bound_is_shown_whole() -> None:
    content = (TextBlock(text="a" * 60), JsonBlock(data={"k": "v"}))
    assert result_content(content, 70) == (content[0], JsonObject({"k": "v"}))
    cut = result_content(content, 69)
    assert cut[1] == TextBlock(text='{"k": "v"')


def test_a_part_that_would_be_blank_is_left_out() -> None:
    (note,) = result_content((TextBlock(text=" " * 50 + "a"),), 20)
    assert isinstance(note, TextBlock)
    assert note.text.strip()
