"""The events of a Converse stream as chunks: one small state per content block, no network.

Text and deltas pass at once. A reasoning block and a call come out whole, when their block has ended: nothing
half-received leaves here. What breaks the protocol counts as a stream that was cut off.
"""

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, assert_never

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
from core.errors import ModelUnavailable
from infra.arguments import arguments_of
from infra.bedrock.errors import error_of

WANTS_TOOLS = "tool_use"


@dataclass(slots=True)
class _Text:
    """Leaves as it comes."""


@dataclass(slots=True)
class _Reasoning:
    text: list[str] = field(default_factory=list)
    signature: list[str] = field(default_factory=list)
    redacted: list[bytes] = field(default_factory=list)


@dataclass(slots=True)
class _Call:
    name: str
    arguments: list[str] = field(default_factory=list)


_Block = _Text | _Reasoning | _Call


class ConverseStream:
    """Reads one completion of `model` (`provider:model`), event by event."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._open: dict[int, _Block] = {}
        self._held: list[Chunk] = []
        """From the first call without arguments on: only the stop reason tells whether there are none, or were cut."""
        self._stop_reason: str | None = None
        self._usage: Usage | None = None

    def read(self, event: dict[str, Any]) -> Iterator[Chunk]:
        """The chunks of one event. Raises ModelUnavailable, ModelOverflow or ModelRefused; unknown events are none."""
        match event:
            case {
                "contentBlockStart": {"contentBlockIndex": int(index), "start": {"toolUse": {"name": name}}}
            }:
                self._begin(index, _Call(_text(name)))
            case {"contentBlockDelta": {"contentBlockIndex": int(index), "delta": dict(delta)}}:
                yield from self._delta(index, delta)
            case {"contentBlockStop": {"contentBlockIndex": int(index)}}:
                yield from self._end(index)
            case {"messageStop": {"stopReason": reason}}:
                yield from self._stop(_text(reason))
            case {"metadata": dict(metadata)}:
                self._usage = _usage(metadata.get("usage"))
                yield from self._completed()
            case _:
                _fail_for_what_is_lost(event)
                _fail_for_errors(event)

    def end(self) -> Iterator[Chunk]:
        """The stream has ended properly. A turn that is whole but was not measured costs nothing; any other is cut."""
        if self._stop_reason is None:
            raise ModelUnavailable("Bedrock: the stream ended before its end marker")
        if self._usage is None:
            self._usage = Usage()
            yield from self._completed()

    def _begin(self, index: int, block: _Block) -> None:
        if self._stop_reason is not None or isinstance(self._open.get(index), _Call):
            raise ModelUnavailable("Bedrock: the stream's blocks are out of order")
        self._open[index] = block

    def _delta(self, index: int, delta: dict[str, Any]) -> Iterator[Chunk]:
        match delta:
            case {"text": text}:
                yield from self._switch(index, _Text())
                yield from self._let_out(TextChunk(_text(text)))
            case {"reasoningContent": dict(piece)}:
                yield from self._switch(index, _Reasoning())
                if isinstance(block := self._open[index], _Reasoning):
                    yield from _reason(block, piece)
            case {"toolUse": {"input": text}}:
                call = self._open.get(index)
                if not isinstance(call, _Call):
                    raise ModelUnavailable("Bedrock: the stream has arguments without a call")
                call.arguments.append(_text(text))
                yield ArgumentsDelta(call.name, call.arguments[-1])

    def _switch(self, index: int, block: _Text | _Reasoning) -> Iterator[Chunk]:
        """Text and reasoning have no start event: a delta of another kind ends one and begins the other."""
        there = self._open.get(index)
        if type(there) is not type(block):
            if isinstance(there, _Reasoning):
                yield from self._end(index)
            self._begin(index, block)

    def _end(self, index: int) -> Iterator[Chunk]:
        block = self._open.pop(index, None)
        match block:
            case None | _Text():
                pass
            case _Reasoning():
                for finished in _reasoning_blocks(block, self._model):
                    yield from self._let_out(finished)
            case _Call():
                yield from self._let_out(CallChunk(block.name, arguments_of("".join(block.arguments))))
            case _:
                assert_never(block)

    def _let_out(self, chunk: Chunk) -> Iterator[Chunk]:
        if self._held or (isinstance(chunk, CallChunk) and chunk.arguments == ""):
            self._held.append(chunk)
        else:
            yield chunk

    def _stop(self, reason: str) -> Iterator[Chunk]:
        if self._stop_reason is not None:
            raise ModelUnavailable("Bedrock: the stream stopped twice")
        if any(not isinstance(block, _Text) for block in self._open.values()):
            raise ModelUnavailable("Bedrock: the stream stopped inside a block")
        self._open.clear()
        self._stop_reason = reason
        for chunk in self._held:
            match chunk:
                case CallChunk(name=name, arguments="") if reason == WANTS_TOOLS:
                    yield CallChunk(name)
                case _:
                    yield chunk
        yield from self._completed()

    def _completed(self) -> Iterator[Chunk]:
        if self._stop_reason is not None and self._usage is not None:
            yield Completed(self._stop_reason, self._usage)


def _reason(block: _Reasoning, piece: dict[str, Any]) -> Iterator[Chunk]:
    match piece:
        case {"text": text}:
            block.text.append(_text(text))
            yield ReasoningDelta(block.text[-1])
        case {"signature": signature}:
            block.signature.append(_text(signature))
        case {"redactedContent": bytes(redacted)}:
            block.redacted.append(redacted)


def _reasoning_blocks(block: _Reasoning, model: str) -> Iterator[ReasoningBlock]:
    text, signature = "".join(block.text), "".join(block.signature) or None
    if text or signature:
        yield ReasoningBlock(text, signature, None, model)
    if redacted := b"".join(block.redacted):
        yield ReasoningBlock(redacted=base64.b64encode(redacted).decode("ascii"), model=model)


def _usage(given: Any) -> Usage:
    """Bedrock counts cached tokens beside `inputTokens`; here they are among them."""
    counted = given if isinstance(given, dict) else {}
    read, written = _count(counted, "cacheReadInputTokens"), _count(counted, "cacheWriteInputTokens")
    return Usage(
        input_tokens=_count(counted, "inputTokens") + read + written,
        output_tokens=_count(counted, "outputTokens"),
        cached_tokens=read,
    )


def _count(counted: dict[str, Any], name: str) -> int:
    value = counted.get(name)
    return value if isinstance(value, int) and value > 0 else 0


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ModelUnavailable("Bedrock: the stream has something else where text belongs")
    return value


def _fail_for_what_is_lost(event: dict[str, Any]) -> None:
    """A piece that belongs to no block, or a call without a name, would be missing from the turn unseen."""
    match event:
        case (
            {"contentBlockDelta": _}
            | {"contentBlockStop": _}
            | {"contentBlockStart": {"start": {"toolUse": _}}}
        ):
            raise ModelUnavailable("Bedrock: the stream has a piece of no block")


def _fail_for_errors(event: dict[str, Any]) -> None:
    """Errors that come as ordinary events. Anything else unknown is passed over."""
    for name, value in event.items():
        if name.endswith("Exception"):
            raise error_of(name, str(value.get("message", "")) if isinstance(value, dict) else "")
