"""Models of other providers behind the door of `model_rigs`: each plays replies in the form of scripts."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from openai import AsyncOpenAI

from core.ports import Model
from infra.library_models.model import LibraryModel
from tests.contract.model_rigs import Reply, pieces_of, reasoning_of
from tests.wire import sse
from tests.wire.api_servers import AnthropicServer, OpenAiServer
from tests.wire.asking_apis import asking_api
from tests.wire.steps import Answer, Cut, Piece, Refusal, Stall, Stream, plays

CHAT_REFUSALS = {
    "throttled": Refusal(429, "rate_limit_exceeded", "slow down"),
    "server": Refusal(500, "server_error", "broken"),
    "overflow": Refusal(400, "context_length_exceeded", "This model's maximum context length is 8 tokens."),
    "invalid": Refusal(400, "invalid_request_error", "messages: not like this"),
}
MESSAGE_REFUSALS = {
    "throttled": Refusal(429, "rate_limit_error", "slow down"),
    "server": Refusal(529, "overloaded_error", "busy"),
    "overflow": Refusal(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
    "invalid": Refusal(400, "invalid_request_error", "messages: not like this"),
}
CHAT_REASONS = {"end_turn": "stop", "tool_use": "tool_calls"}


class OpenAiRig:
    """A server of one's own that speaks OpenAI's chat. It has no signed reasoning."""

    signs_reasoning = False

    @asynccontextmanager
    async def playing(self, *replies: Reply) -> AsyncIterator[Model]:
        async with (
            OpenAiServer(*(_answer(reply, CHAT_REFUSALS, _chat(reply)) for reply in replies)) as server,
            asking_api(server) as model,
        ):
            yield model


class HostedOpenAiRig:
    """OpenAI itself, whose address a client here is given."""

    signs_reasoning = False

    @asynccontextmanager
    async def playing(self, *replies: Reply) -> AsyncIterator[Model]:
        answers = (_answer(reply, CHAT_REFUSALS, _chat(reply)) for reply in replies)
        async with (
            OpenAiServer(*answers) as server,
            AsyncOpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0) as client,
        ):

            async def open_client() -> Any:
                return client

            yield LibraryModel("openai", "gpt-4o", open_client)


class AnthropicRig:
    """Anthropic's Messages API."""

    signs_reasoning = True

    @asynccontextmanager
    async def playing(self, *replies: Reply) -> AsyncIterator[Model]:
        async with (
            AnthropicServer(
                *(_answer(reply, MESSAGE_REFUSALS, _messages(reply)) for reply in replies)
            ) as server,
            asking_api(server) as model,
        ):
            yield model


def _answer(reply: Reply, refusals: dict[str, Refusal], written: list[bytes]) -> Answer:
    if refusal := refusals.get(reply.get("error", "")):
        return refusal
    if reply.get("error") == "disconnect":
        return plays(written[:-3], Cut())
    if "delay_ms" in reply:
        return Stream([Piece(written[0]), Stall()])
    return plays(written)


def _reason(reply: Reply) -> str:
    reason: str = reply.get("stop_reason") or ("tool_use" if reply.get("tool_calls") else "end_turn")
    return reason


def _calls(reply: Reply) -> list[tuple[str, list[str]]]:
    given = [] if reply.get("error") == "disconnect" else reply.get("tool_calls", [])
    return [(one["name"], pieces_of(one.get("raw_args") or json.dumps(one.get("args", {})))) for one in given]


def _chat(reply: Reply) -> list[bytes]:
    deltas = [{"reasoning_content": piece} for one in reasoning_of(reply) for piece in pieces_of(one["text"])]
    deltas += [{"content": piece} for piece in pieces_of(reply.get("text", ""))]
    for index, (name, pieces) in enumerate(_calls(reply)):
        deltas += sse.chat_call(index, name, *pieces)
    usage = reply.get("usage", {})
    measured = {
        "prompt_tokens": usage.get("input_tokens", 10),
        "completion_tokens": usage.get("output_tokens", 5),
        "prompt_tokens_details": {"cached_tokens": usage.get("cached_tokens", 0)},
    }
    reason = _reason(reply)
    return sse.chat(*deltas, reason=CHAT_REASONS.get(reason, reason), usage=measured)


def _messages(reply: Reply) -> list[bytes]:
    blocks: list[list[bytes]] = []
    for one in reasoning_of(reply):
        index = len(blocks)
        if "redacted" in one:
            blocks.append(sse.redacted(index, one["redacted"]))
        else:
            blocks.append(sse.thinking(index, *pieces_of(one["text"]), signature=one["signature"]))
    if reply.get("text"):
        blocks.append(sse.text(len(blocks), *pieces_of(reply["text"])))
    for name, pieces in _calls(reply):
        blocks.append(sse.call(len(blocks), name, *pieces))
    usage = reply.get("usage", {})
    cached = usage.get("cached_tokens", 0)
    measured = {
        "input_tokens": usage.get("input_tokens", 10) - cached,
        "output_tokens": usage.get("output_tokens", 5),
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
    }
    return sse.messages(*blocks, reason=_reason(reply), usage=measured)
