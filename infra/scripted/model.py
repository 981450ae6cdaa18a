"""The scripted model: a `Model` that plays a file instead of calling anyone. For demos and tests, without a network.

Stateless, so it works across processes: the reply depends on the request alone.
"""

import json
from collections.abc import AsyncGenerator, Iterator
from datetime import timedelta
from math import ceil
from typing import Any, NoReturn

from core.chunks import (
    ArgumentsDelta,
    CallChunk,
    Chunk,
    Completed,
    ReasoningBlock,
    ReasoningDelta,
    TextChunk,
    Usage,
)
from core.clock import Clock
from core.errors import ModelOverflow, ModelRefused, ModelUnavailable
from core.request import ModelRequest
from core.strict import check_request
from infra.scripted.conversation import Conversation, conversation_of
from infra.scripted.rules import choose
from infra.scripted.script import Reply, Script, ScriptedCall, ScriptedError, strict_json

CHARACTERS_PER_TOKEN = 4
_PIECES = (ReasoningDelta, ArgumentsDelta, TextChunk)


class ScriptedModel:
    """Plays one script."""

    def __init__(self, script: Script, clock: Clock) -> None:
        self._script = script
        self._clock = clock

    @property
    def context_window(self) -> int | None:
        return self._script.context_window

    @property
    def signs_reasoning(self) -> bool:
        return True

    async def stream(self, request: ModelRequest, *, timeout_seconds: float) -> AsyncGenerator[Chunk, None]:
        """Stream the reply of the first rule that holds. Beside the port's errors, MalformedRequest."""
        check_request(request)
        seen = conversation_of(request)
        window = self._script.context_window
        if window is not None and len(seen.text) > window * CHARACTERS_PER_TOKEN:
            raise ModelOverflow(
                f"the conversation is longer than the script's context window of {window} tokens"
            )
        reply = choose(self._script.rules, seen)
        if reply is None:
            raise ModelRefused("invalid: no rule of the script holds for this conversation")
        pace = _Pace(self._clock, reply.delay_ms / 1000, timeout_seconds)
        for chunk in _chunks(reply, request.model):
            if isinstance(chunk, _PIECES):
                await pace.wait()
            yield chunk
        if reply.error is not None or not pace.waited:
            await pace.wait()
        if reply.error is not None:
            _fail(reply.error)
        yield Completed(_stop_reason(reply), _usage(reply, seen))


class _Pace:
    """Waits the reply's delay, again and again, but never beyond the time the caller gave."""

    def __init__(self, clock: Clock, delay_seconds: float, timeout_seconds: float) -> None:
        self.waited = False
        self._clock = clock
        self._delay = timedelta(seconds=delay_seconds)
        self._ends_at = clock.now() + timedelta(seconds=timeout_seconds)

    async def wait(self) -> None:
        self.waited = True
        if not self._delay:
            return
        left = max(timedelta(), self._ends_at - self._clock.now())
        await self._clock.sleep(min(self._delay, left).total_seconds())
        if self._delay > left:
            raise ModelUnavailable("the scripted model is slower than the time there is")


def _chunks(reply: Reply, model: str) -> Iterator[Chunk]:
    """What is streamed before the end or the error. Only a disconnect has anything to show before it."""
    if reply.error not in (None, "disconnect"):
        return
    for block in reply.reasoning:
        yield from map(ReasoningDelta, _pieces(block.text, reply.chunk_size))
        yield ReasoningBlock(block.text, block.signature, block.redacted, model)
    yield from map(TextChunk, _pieces(reply.text, reply.chunk_size))
    if reply.error is None:
        for call in reply.tool_calls:
            yield from _call_chunks(call, reply.chunk_size)


def _call_chunks(call: ScriptedCall, chunk_size: int) -> Iterator[Chunk]:
    for piece in _pieces(_arguments_text(call), chunk_size):
        yield ArgumentsDelta(call.name, piece)
    yield CallChunk(call.name, call.args if call.raw_args is None else _object_or_text(call.raw_args))


def _object_or_text(raw: str) -> dict[str, Any] | str:
    """As a real provider's adapter does it: the object that the text is, else the text."""
    try:
        value = strict_json(raw)
    except ValueError:
        return raw
    return value if isinstance(value, dict) else raw


def _arguments_text(call: ScriptedCall) -> str:
    return json.dumps(call.args, ensure_ascii=False) if call.raw_args is None else call.raw_args


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


def _fail(error: ScriptedError) -> NoReturn:
    match error:
        case "throttled" | "server" | "disconnect":
            raise ModelUnavailable(f"scripted: {error}")
        case "overflow":
            raise ModelOverflow("scripted: overflow")
        case "invalid":
            raise ModelRefused("scripted: invalid")


def _stop_reason(reply: Reply) -> str:
    return reply.stop_reason or ("tool_use" if reply.tool_calls else "end_turn")


def _usage(reply: Reply, seen: Conversation) -> Usage:
    """The script's own, its gaps filled with characters / 4, rounded up."""
    said = len(reply.text) + sum(len(block.text) for block in reply.reasoning)
    called = sum(len(call.name) + len(_arguments_text(call)) for call in reply.tool_calls)
    counted = Usage(
        input_tokens=ceil(len(seen.text) / CHARACTERS_PER_TOKEN),
        output_tokens=ceil((said + called) / CHARACTERS_PER_TOKEN),
    )
    given = reply.usage
    return (
        counted
        if given is None
        else counted.model_copy(update=given.model_dump(include=given.model_fields_set))
    )
