"""Every export is valid by its provider's rules, on random histories: those of threads, and any that one can append."""

import base64
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import MisuseError
from core.request import CallPart, RequestMessage, ResultPart
from core.state import AgentState
from core.state.exports import anthropic_messages, converse_messages, openai_messages
from core.state.rebuilt import ThreadView
from core.state.stored import build_state
from tests.support.any_messages import ANY_MESSAGES
from tests.support.api_rules import anthropic_faults, openai_faults
from tests.support.conversations import conversations
from tests.wire.rules import faults_of

TOOL = {"toolSpec": {"name": "t", "description": "T.", "inputSchema": {"json": {"type": "object"}}}}


def converse_faults(messages: list[dict[str, Any]]) -> list[str]:
    """As the wire has them, and with the question that an open conversation still lacks."""
    sent = [_wired(message) for message in messages]
    if sent and sent[-1]["role"] == "assistant":
        sent.append({"role": "user", "content": [{"text": "go on"}]})
    body = {"messages": sent, "inferenceConfig": {"maxTokens": 9}, "toolConfig": {"tools": [TOOL]}}
    return faults_of("llama", body)


def _wired(value: Any) -> Any:
    match value:
        case bytes():
            return base64.b64encode(value).decode()
        case dict():
            return {key: _wired(item) for key, item in value.items()}
        case list():
            return [_wired(item) for item in value]
        case _:
            return value


def assert_valid(state: AgentState) -> None:
    for faults, exported in (
        (anthropic_faults, state.to_api_messages()),
        (openai_faults, state.to_openai_messages()),
        (converse_faults, state.to_converse_messages()),
    ):
        assert exported == [] or faults(exported) == []


def assert_all_valid(messages: Sequence[RequestMessage]) -> None:
    if made := anthropic_messages(messages):
        assert anthropic_faults(made) == []
        assert openai_faults(openai_messages(messages)) == []
        assert converse_faults(converse_messages(messages)) == []


@given(conversations())
@settings(max_examples=80)
def test_every_export_of_a_thread_is_valid_and_says_all(messages: tuple[RequestMessage, ...]) -> None:
    state = build_state(AgentState, {}, ThreadView(messages=messages)).value
    assert_valid(state)
    exported = state.to_api_messages()
    assert [message["role"] for message in exported] == [message.role for message in messages]
    calls = [part.call_id for one in messages for part in one.parts if isinstance(part, CallPart)]
    blocks = [block for one in exported if not isinstance(one["content"], str) for block in one["content"]]
    assert [block["id"] for block in blocks if block["type"] == "tool_use"] == calls


@given(ANY_MESSAGES)
@settings(max_examples=200)
def test_every_export_of_any_messages_is_valid(messages: list[RequestMessage]) -> None:
    assert_all_valid(messages)


@given(ANY_MESSAGES, st.sampled_from(["", " ", "why?"]))
@settings(max_examples=100)
def test_every_export_of_what_can_be_appended_is_valid_at_every_step(
    messages: list[RequestMessage], query: str
) -> None:
    state = AgentState(query=query)
    for message in messages:
        before = state.messages
        try:
            state.append_message(message)
        except MisuseError:
            assert state.messages is before
        else:
            assert state.messages[:-1] == before
    assert_valid(state)
    assert AgentState.model_validate_json(state.model_dump_json()).messages == state.messages


@given(conversations(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_results_may_be_appended_one_by_one_in_any_order(
    messages: tuple[RequestMessage, ...], random: Any
) -> None:
    whole, piecemeal = AgentState(), AgentState()
    for message in messages:
        whole.append_message(message)
        results = [part for part in message.parts if isinstance(part, ResultPart)]
        rest = tuple(part for part in message.parts if not isinstance(part, ResultPart))
        random.shuffle(results)
        for result in results:
            piecemeal.append_message(RequestMessage("user", (result,)))
        if rest:
            piecemeal.append_message(RequestMessage(message.role, rest))
    assert piecemeal.to_api_messages() == whole.to_api_messages()
    assert piecemeal.to_openai_messages() == whole.to_openai_messages()
    assert piecemeal.to_converse_messages() == whole.to_converse_messages()
