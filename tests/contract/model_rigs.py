"""Models behind one door: each plays the same reply, given in the form of scripts (contract.md).

Here the base install's, in `api_rigs` those of the extra `models`.
"""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import Any, Protocol

from core.ports import Model
from infra.scripted.model import ScriptedModel
from infra.scripted.script import Script
from tests.unit.scripted.playing import SleepingClock
from tests.wire import frames
from tests.wire.asking import asking
from tests.wire.server import ConverseServer
from tests.wire.steps import Answer, Cut, Piece, Refusal, Stall, Stream, plays

Reply = dict[str, Any]
REFUSALS = {
    "throttled": Refusal(429, "ThrottlingException", "slow down"),
    "server": Refusal(500, "InternalServerException", "broken"),
    "overflow": Refusal(400, "ValidationException", "Input is too long for requested model."),
    "invalid": Refusal(400, "ValidationException", "messages: not like this"),
}
SLOWER_THAN_ANY_TIMEOUT = int(timedelta(hours=1).total_seconds() * 1000)


class ModelRig(Protocol):
    """Makes a model that plays replies."""

    signs_reasoning: bool

    def playing(self, *replies: Reply) -> AbstractAsyncContextManager[Model]:
        """A model that plays these, one for each request, or the last of them for ever."""
        ...


class ScriptedRig:
    """The scripted model. It is stateless: the turns in a request say which reply is due."""

    signs_reasoning = True

    @asynccontextmanager
    async def playing(self, *replies: Reply) -> AsyncIterator[Model]:
        rules = [{"when": {"turns": number}, "reply": reply} for number, reply in enumerate(replies)]
        yield ScriptedModel(Script.model_validate({"rules": rules}), SleepingClock())


class BedrockRig:
    """The Bedrock adapter and its client, over the wire."""

    signs_reasoning = True

    @asynccontextmanager
    async def playing(self, *replies: Reply) -> AsyncIterator[Model]:
        async with ConverseServer(*map(answer_of, replies)) as server, asking(server) as model:
            yield model


def answer_of(reply: Reply) -> Answer:
    """The same on the wire."""
    if refusal := REFUSALS.get(reply.get("error", "")):
        return refusal
    written = _frames_of(reply)
    if reply.get("error") == "disconnect":
        return plays(written[:-2], Cut())
    if "delay_ms" in reply:
        return Stream([Piece(written[0]), Stall()])
    return plays(written)


def _frames_of(reply: Reply) -> list[bytes]:
    blocks: list[list[bytes]] = []
    for one in reasoning_of(reply):
        redacted = [base64.b64decode(one["redacted"])] if "redacted" in one else []
        signature = [one["signature"]] if "signature" in one else []
        blocks.append(
            frames.reasoning(
                len(blocks), *pieces_of(one.get("text", "")), signature=signature, redacted=redacted
            )
        )
    if reply.get("text"):
        blocks.append(frames.text(len(blocks), *pieces_of(reply["text"])))
    if reply.get("error") != "disconnect":
        for call in reply.get("tool_calls", []):
            given = call.get("raw_args") or json.dumps(call.get("args", {}))
            blocks.append(frames.call(len(blocks), call["name"], *pieces_of(given)))
    reason = reply.get("stop_reason") or ("tool_use" if reply.get("tool_calls") else "end_turn")
    return frames.message(*blocks, reason=reason, **_usage(reply.get("usage", {})))


def _usage(usage: dict[str, int]) -> dict[str, int]:
    cached = usage.get("cached_tokens", 0)
    return {
        "inputTokens": usage.get("input_tokens", 10) - cached,
        "outputTokens": usage.get("output_tokens", 5),
        "cacheReadInputTokens": cached,
    }


def reasoning_of(reply: Reply) -> list[Reply]:
    """Its reasoning blocks."""
    given = reply.get("reasoning", [])
    return given if isinstance(given, list) else [given]


def pieces_of(text: str) -> list[str]:
    """Four characters at a time."""
    return [text[at : at + 4] for at in range(0, len(text), 4)]
