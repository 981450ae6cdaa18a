"""`GlobalState`: its two logs, and that they are kept apart."""

import json
from typing import Any

import pytest

from core.blocks import ImageBlock, JsonBlock, TextBlock
from core.entries import AppEntry
from core.errors import MisuseError
from core.state import AppMessage, GlobalState
from core.state.rebuilt import MAX_MESSAGE_BYTES, ThreadView
from core.state.stored import build_state
from tests.support.conversations import said, user


class Counting(GlobalState):
    count: int = 0


def test_the_latest_message_of_a_role_is_found() -> None:
    state = GlobalState()
    state.add_message("user", "one")
    state.add_message("audit", {"by": "me"})
    state.add_message("user", "two")
    assert state.get_latest_message("user") == "two"
    assert state.get_latest_message("audit") == {"by": "me"}
    assert state.get_latest_message("assistant") is None
    assert [message.role for message in state.messages] == ["user", "audit", "user"]


def test_the_two_logs_are_independent() -> None:
    state = GlobalState()
    state.add_message("user", "one")
    assert state.message_history == []
    state.message_history.append(user(said("hi")))
    assert len(state.messages) == 1


def test_two_states_share_nothing() -> None:
    first, second = Counting(), Counting()
    first.add_message("user", "one")
    first.message_history.append(user(said("hi")))
    assert (second.messages, second.message_history) == ([], [])


@pytest.mark.parametrize("content", ["text", "", {"k": [1, None]}, [], 3, None, True])
def test_a_message_is_read_back_as_it_was_added(content: Any) -> None:
    state = GlobalState()
    state.add_message("r", content)
    (message,) = state.messages
    assert message.entry().kind == "app"
    stored = json.loads(json.dumps(message.entry().to_json()))
    read = AppMessage.read(AppEntry.model_validate(stored))
    assert read == message
    assert type(read.content) is type(content)
    assert read.content == content


def test_what_is_added_is_a_copy_that_can_be_stored() -> None:
    state, content = GlobalState(), {"k": [1], "text": "a\x00"}
    state.add_message("r", content)
    content["k"].append(2)  # type: ignore[attr-defined]
    assert state.get_latest_message("r") == {"k": [1], "text": "a\ufffd"}
    with pytest.raises(MisuseError, match="set"):
        state.add_message("r", {1, 2})
    assert len(state.messages) == 1


def test_an_app_entry_of_several_blocks_is_read_as_blocks() -> None:
    blocks = (TextBlock(text="a"), JsonBlock(data=1), ImageBlock(media_type="image/png", s3="s3://b/k"))
    assert AppMessage.read(AppEntry(role="r", content=blocks)).content == [
        {"type": "text", "text": "a"},
        {"type": "json", "data": 1},
        {"type": "image", "media_type": "image/png", "s3": "s3://b/k"},
    ]


def test_a_state_shows_what_its_thread_has() -> None:
    view = ThreadView(messages=(user(said("hi")),), app=(AppMessage(role="r", content="c"),))
    state = build_state(Counting, {"count": 3}, view).value
    assert (state.count, state.messages, state.message_history) == (3, [*view.app], [user(said("hi"))])


def test_a_state_survives_json() -> None:
    state = Counting(count=2, message_history=[user(said("hi"))])
    state.add_message("r", "c")
    assert Counting.model_validate_json(state.model_dump_json()) == state


def test_a_message_is_bounded() -> None:
    with pytest.raises(MisuseError, match="bytes"):
        GlobalState().add_message("r", "x" * MAX_MESSAGE_BYTES)
