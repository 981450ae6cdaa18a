"""Loopback servers for other providers' APIs: OpenAI's chat and Anthropic's Messages, and what each would refuse.

The rules read the JSON of the wire and share nothing with what wrote it.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from tests.wire.server import Received, WireServer
from tests.wire.steps import Refusal

Body = dict[str, Any]


class OpenAiServer(WireServer):
    """`/v1/chat/completions`, as OpenAI and its many likes serve it."""

    def received(self, path: str, headers: Mapping[str, str], body: Any) -> Received:
        assert path == "/v1/chat/completions"
        return Received(body["model"], headers, body)

    def faults_of(self, received: Received) -> list[str]:
        return list(_chat_faults(received.body))

    def refusal(self, refusal: Refusal) -> tuple[dict[str, str], Any]:
        return {}, {"error": {"message": refusal.message, "type": "error", "code": refusal.code}}


class AnthropicServer(WireServer):
    """`/v1/messages`."""

    def received(self, path: str, headers: Mapping[str, str], body: Any) -> Received:
        assert path.partition("?")[0] == "/v1/messages"
        return Received(body["model"], headers, body)

    def faults_of(self, received: Received) -> list[str]:
        return list(_message_faults(received.body))

    def refusal(self, refusal: Refusal) -> tuple[dict[str, str], Any]:
        return {}, {"type": "error", "error": {"type": refusal.code, "message": refusal.message}}


def _chat_faults(body: Body) -> Iterator[str]:
    """Every call is answered by a message of its own before anybody else speaks; nothing is blank."""
    if not body.get("stream") or not body.get("stream_options", {}).get("include_usage"):
        yield "not asked for a stream that is measured"
    due: list[str] = []
    for index, message in enumerate(body["messages"]):
        role, content, calls = message["role"], message.get("content"), message.get("tool_calls", [])
        if role == "tool":
            if message["tool_call_id"] not in due:
                yield f"messages[{index}]: answers a call that is not due"
                continue
            due.remove(message["tool_call_id"])
        elif due:
            yield f"messages[{index}]: {due} are not answered"
        if not calls and not (content and str(content).strip()):
            yield f"messages[{index}]: blank"
        if any(not isinstance(json.loads(one["function"]["arguments"]), dict) for one in calls):
            yield f"messages[{index}]: arguments that are no object"
        due = due if role == "tool" else [one["id"] for one in calls]
    if body["messages"][-1]["role"] not in ("user", "tool"):
        yield "the last message is not the user's"


def _message_faults(body: Body) -> Iterator[str]:
    messages = body["messages"]
    if any(before["role"] == after["role"] for before, after in pairwise(messages)):
        yield "roles do not alternate"
    asked: list[str] = []
    for index, message in enumerate(messages):
        blocks = [one for one in _blocks(message) if one["type"] != "text" or one["text"].strip()]
        answered = [one["tool_use_id"] for one in blocks if one["type"] == "tool_result"]
        if answered != asked:
            yield f"messages[{index}]: answers {answered}, asked were {asked}"
        if len(blocks) != len(_blocks(message)) or not blocks:
            yield f"messages[{index}]: blank"
        asked = [one["id"] for one in blocks if one["type"] == "tool_use"]
    thinks = body.get("thinking", {}).get("type") in ("enabled", "adaptive")
    if thinks and len(messages) > 1:
        head = _blocks(messages[-2])[0]["type"]
        answers = any(one["type"] == "tool_result" for one in _blocks(messages[-1]))
        if answers and head not in ("thinking", "redacted_thinking"):
            yield "thinks, but the calls being answered were not thought about"
    if thinks and "temperature" in body:
        yield "a temperature for a model that thinks"


def _blocks(message: Body) -> list[Body]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
