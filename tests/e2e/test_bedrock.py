"""A conversation through a Bedrock that somebody else wrote. It answers by itself when its model fails, so the model
server must have seen every request.
"""

from typing import Any

import pytest

from infra.local import LocalTorpor
from tests.e2e.openai_server import ModelServer, calls, says
from tests.support.world import agent

APP = agent(instructions="Be brief.", model="bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0")


def message(message_id: str, text: str) -> dict[str, Any]:
    return {"type": "user_message", "thread_id": "t1", "message_id": message_id, "content": text}


def outline(messages: list[dict[str, Any]]) -> list[str]:
    """Role and text, or what is called."""
    return [
        f"{one['role']}: {', '.join(call['function']['name'] for call in one.get('tool_calls', [])) or one['content']}"
        for one in messages
    ]


def check_answered(messages: list[dict[str, Any]]) -> None:
    """Every call answered once, at once, in order, by ids that never come again."""
    ids: list[str] = []
    for at, one in enumerate(messages):
        asked = [call["id"] for call in one.get("tool_calls", [])]
        after = messages[at + 1 : at + 1 + len(asked)]
        assert [answer.get("tool_call_id") for answer in after] == asked
        ids += asked
    assert len(set(ids)) == len(ids)


@pytest.fixture
def local(ministack_url: str, monkeypatch: pytest.MonkeyPatch) -> LocalTorpor:
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", ministack_url)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    return LocalTorpor(app=APP)


def test_a_conversation_with_tools_goes_through_and_the_model_saw_every_request(
    local: LocalTorpor, model: ModelServer
) -> None:
    model.play(
        "Find both.",
        calls(("echo", {"text": "one"}), ("fetch", {"url": "two"}), text="Looking."),
        says("Found both."),
        calls(("echo", {"text": "three"})),
        says("And the third."),
    )
    with local:
        for message_id, text in (("m1", "Find both."), ("m2", "And the third?")):
            local.send(message(message_id, text))
            local.drain()
        outputs = [output for output in local.outputs("t1") if output["type"] == "assistant_message"]
    assert [output["text"] for output in outputs] == ["Looking.", "Found both.", "And the third."]
    assert [output["usage"]["input_tokens"] for output in outputs] == [100, 100, 100]
    requests = model.requests("Find both.")
    assert (len(requests), model.unplayed("Find both.")) == (4, 0)
    for request in requests:
        assert [tool["function"]["name"] for tool in request["tools"]][:3] == ["echo", "fetch", "dig"]
        check_answered(request["messages"])
    assert outline(requests[-1]["messages"]) == [
        "system: Be brief.",
        "user: Find both.",
        "assistant: echo, fetch",
        "tool: one",
        "tool: two",
        "assistant: Found both.",
        "user: And the third?",
        "assistant: echo",
        "tool: three",
    ]
