"""`AgentState`: one test for every sentence that is promised of it, its three exports by example."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from core.errors import MisuseError
from core.request import CallPart, ResultPart
from core.state import AgentState, Source
from tests.support.conversations import PICTURE, PIXEL, assistant, document, said, user


def use(call_id: str, **args: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "search", "input": args}


def answer(call_id: str, content: Any = "found", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def run() -> AgentState:
    state = AgentState(query="why?")
    state.append_message({"role": "user", "content": "why?"})
    state.append_message("assistant", [{"type": "text", "text": "hm"}, use("a", q=["x"]), use("b")])
    state.append_message("user", [answer("b", {"n": 1}, is_error=True)])
    state.append_message("user", [answer("a")])
    return state


def test_a_run_begins_with_its_query_and_nothing_else() -> None:
    state = AgentState(query="why?")
    assert (state.query, state.messages, state.scratchpad, state.sources) == ("why?", (), "", [])
    assert (state.step, state.report) == (0, None)


def test_steps_are_counted() -> None:
    state = AgentState()
    assert [state.increment_step(), state.increment_step(), state.step] == [1, 2, 2]


def test_the_first_source_of_each_url_is_kept() -> None:
    state = AgentState()
    state.add_source("https://a", "A")
    state.add_source("https://a", "Another title", "and a snippet")
    state.add_source(Source("https://b", "B"))
    assert state.sources == [Source("https://a", "A"), Source("https://b", "B")]


CHANGES: list[Callable[[Any], object]] = [
    lambda state: setattr(state, "messages", ()),
    lambda state: state.messages.clear(),
    lambda state: state.messages.__delitem__(0),
    lambda state: setattr(state.messages[0], "role", "assistant"),
    lambda state: setattr(state.messages[0].parts[0], "text", "other"),
    lambda state: state.messages[1].parts[1].args.update(q=1),
    lambda state: state.messages[1].parts[1].args.pop("q"),
    lambda state: state.messages[1].parts[1].args["q"].append("y"),
    lambda state: state.messages[2].parts[0].content[0].data.clear(),
]


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_no_message_can_be_removed_or_changed(number: int) -> None:
    state, as_before = run(), run()
    with pytest.raises((AttributeError, TypeError, ValueError, ValidationError)):
        CHANGES[number](state)
    assert state.messages == as_before.messages


def test_what_is_appended_is_a_copy() -> None:
    state, block = AgentState(), use("a", q=["x"])
    call = CallPart("b", "search", {"q": ["x"]})
    state.append_message("assistant", [block, call])
    block["input"]["q"].append("y")
    call.args["q"].append("y")
    assert [part.args for part in state.messages[0].parts if isinstance(part, CallPart)] == [{"q": ["x"]}] * 2


def test_an_export_is_a_copy() -> None:
    state, as_before = run(), run()
    for exported in (state.to_api_messages(), state.to_openai_messages(), state.to_converse_messages()):
        exported[1]["content"] = None
    state.to_api_messages()[1]["content"][1]["input"]["q"].append("y")
    state.to_converse_messages()[1]["content"][1]["toolUse"]["input"]["q"].append("y")
    assert state.messages == as_before.messages


def test_a_copied_or_stored_run_goes_on_by_itself() -> None:
    state = run()
    for other in (
        copy.deepcopy(state),
        state.model_copy(deep=True),
        pickle.loads(pickle.dumps(state)),
        AgentState.model_validate_json(state.model_dump_json()),
        AgentState(query="why?", messages=state.messages),
    ):
        assert other.messages == state.messages
        other.append_message("assistant", "done")
        call = other.messages[1].parts[1]
        assert isinstance(call, CallPart)
        with pytest.raises(TypeError):
            call.args["q"] = 1
    assert len(state.messages) == 4


def test_role_and_content_may_come_together_or_apart() -> None:
    together, by_position, by_name = AgentState(), AgentState(), AgentState()
    together.append_message({"role": "user", "content": "hi"})
    by_position.append_message("user", "hi")
    by_name.append_message(role="user", content="hi")
    assert together.messages == by_position.messages == by_name.messages != ()


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"role": "system", "content": "x"}, "role"),
        ({"role": "user", "content": 5}, "content"),
        ({"role": "user", "content": [{"type": "audio"}]}, "audio"),
        ({"role": "user", "content": [{"type": "image", "media_type": "image/png"}]}, "image"),
        ({"role": "user", "content": [answer("c")]}, "no call 'c'"),
        ({"role": "user", "content": [answer("b")]}, "no call 'b'"),
        ({"role": "user", "content": [answer("a"), answer("a")]}, "no call 'a'"),
        ({"role": "user", "content": [use("c")]}, "call"),
        ({"role": "assistant", "content": [use("a")]}, "a is there already"),
        ({"role": "assistant", "content": [use("no id!")]}, "id"),
        ({"role": "assistant", "content": [{**use("c"), "name": "no name!"}]}, "name"),
        ({"role": "assistant", "content": [{**use("c"), "input": [1]}]}, "input"),
        ({"role": "assistant", "content": [{**use("c"), "input": {"s": {1}}}]}, "set"),
        ({"role": "assistant", "content": [answer("a")]}, "result"),
        ({"role": "assistant", "content": [PICTURE]}, "image"),
        (["user", "hi"], "list"),
        (None, "role"),
    ],
)
def test_what_is_no_message_here_is_refused_and_changes_nothing(message: Any, said: str) -> None:
    state = run()
    state.__dict__["messages"] = state.messages[:3]  # call a still waits
    with pytest.raises(MisuseError, match=said):
        state.append_message(message)
    assert len(state.messages) == 3


# ---- exports


def test_the_messages_api_gets_strings_and_blocks_and_all_results_in_one_message() -> None:
    state = run()
    state.append_message("assistant", [{"type": "text", "text": "so \n"}])
    assert state.to_api_messages() == [
        {"role": "user", "content": "why?"},
        {"role": "assistant", "content": [{"type": "text", "text": "hm"}, use("a", q=["x"]), use("b")]},
        {"role": "user", "content": [answer("a"), answer("b", '{"n": 1}', is_error=True)]},
        {"role": "assistant", "content": "so"},
    ]


def test_the_openai_chat_format_has_a_message_for_each_result() -> None:
    def function(call_id: str, arguments: str) -> dict[str, Any]:
        return {"id": call_id, "type": "function", "function": {"name": "search", "arguments": arguments}}

    assert run().to_openai_messages() == [
        {"role": "user", "content": "why?"},
        {
            "role": "assistant",
            "content": "hm",
            "tool_calls": [function("a", '{"q":["x"]}'), function("b", "{}")],
        },
        {"role": "tool", "tool_call_id": "a", "content": "found"},
        {"role": "tool", "tool_call_id": "b", "content": '[error] {"n": 1}'},
    ]


def test_converse_gets_its_blocks() -> None:
    exported = run().to_converse_messages()
    assert exported[0] == {"role": "user", "content": [{"text": "why?"}]}
    assert exported[1]["content"][1] == {
        "toolUse": {"toolUseId": "a", "name": "search", "input": {"q": ["x"]}}
    }
    assert [block["toolResult"] for block in exported[2]["content"]] == [
        {"toolUseId": "a", "content": [{"text": "found"}], "status": "success"},
        {"toolUseId": "b", "content": [{"json": {"n": 1}}], "status": "error"},
    ]


def test_a_run_without_the_users_message_begins_with_its_query() -> None:
    state = AgentState(query="why?")
    opening = {"role": "user", "content": "why?"}
    assert state.to_api_messages() == state.to_openai_messages() == [opening]
    state.append_message("assistant", "because")
    assert state.to_api_messages() == [opening, {"role": "assistant", "content": "because"}]
    assert AgentState().to_api_messages() == []


def test_a_call_without_a_result_is_answered_so() -> None:
    state = AgentState(query="why?")
    state.append_message("assistant", [use("a")])
    (result,) = state.to_api_messages()[-1]["content"]
    assert (result["tool_use_id"], result["is_error"]) == ("a", True)
    state.append_message("user", "never mind")
    assert [block["type"] for block in state.to_api_messages()[-1]["content"]] == ["tool_result", "text"]
    state.append_message("user", [answer("a")])
    assert state.to_api_messages()[-1]["content"][0] == answer("a")


def test_ids_that_come_again_are_told_apart() -> None:
    state = AgentState(query="why?")
    for content in ("one", "two"):
        state.append_message("assistant", [use("a")])
        state.append_message("user", [answer("a", content)])
    uses = [
        message["content"][0]["id"] for message in state.to_api_messages() if message["role"] == "assistant"
    ]
    results = [message["content"][0] for message in state.to_api_messages()[2::2]]
    assert len(set(uses)) == 2
    assert [(result["tool_use_id"], result["content"]) for result in results] == [
        (uses[0], "one"),
        (uses[1], "two"),
    ]


def test_pictures_and_documents_go_where_a_format_has_them() -> None:
    state = AgentState()
    state.append_message(user(said("look"), PICTURE, document("notes")))
    state.append_message(assistant(CallPart("a", "search", {})))
    state.append_message(user(ResultPart("a", "search", (PICTURE,))))
    api, chat, converse = state.to_api_messages(), state.to_openai_messages(), state.to_converse_messages()
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    assert api[0]["content"][1] == {"type": "image", "source": source}
    assert api[0]["content"][2]["source"] == {"type": "text", "media_type": "text/plain", "data": "hi"}
    assert api[2]["content"][0]["content"] == [{"type": "image", "source": source}]
    url = f"data:image/png;base64,{PIXEL}"
    assert chat[0]["content"][1:] == [
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "text", "text": "[document notes]\nhi"},
    ]
    assert [message["role"] for message in chat] == ["user", "assistant", "tool", "user"]
    assert chat[3]["content"][1]["image_url"]["url"] == url
    assert set(converse[0]["content"][1]["image"]) == {"format", "source"}
    assert converse[0]["content"][2]["document"] == {
        "format": "txt",
        "name": "notes",
        "source": {"bytes": b"hi"},
    }


def test_the_newest_pictures_are_shown_if_there_are_too_many() -> None:
    state = AgentState()
    for _ in range(25):
        state.append_message(user(PICTURE))
    kinds = [block["type"] for block in state.to_api_messages()[0]["content"]]
    assert kinds == ["text"] * 5 + ["image"] * 20
