"""A model port that plays a list of turns: what slices ask of a provider, without one.

Apart from the scripted model because a test says what comes next whatever the request is, failures included.
"""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any

from core.blocks import Value
from core.chunks import CallChunk, Chunk, Completed, ReasoningBlock, TextChunk, Usage
from core.request import ModelRequest, RequestMessage, ResultPart

Turn = Sequence[Chunk | Exception]
"""Chunks in order; an exception is raised in its place."""

USAGE = Usage(input_tokens=10, output_tokens=5)


def says(*pieces: str, stop_reason: str = "end_turn") -> Turn:
    """A turn of text."""
    return [*(TextChunk(piece) for piece in pieces), Completed(stop_reason, USAGE)]


def calls(*named: tuple[str, dict[str, Any] | str], text: str = "", stop_reason: str = "tool_use") -> Turn:
    """A turn of calls, text before them."""
    spoken = [TextChunk(text)] if text else []
    return [*spoken, *(CallChunk(*call) for call in named), Completed(stop_reason, USAGE)]


def fails(error: Exception, *before: Chunk) -> Turn:
    """A turn that breaks off."""
    return [*before, error]


def signed(text: str, signature: str = "sig", model: str = "test:model") -> ReasoningBlock:
    """A reasoning block that its provider takes back."""
    return ReasoningBlock(text, signature, None, model)


async def _nothing() -> None:
    """Nothing happens elsewhere."""


class PlayedModel:
    """Plays its turns one after another, and keeps the requests. Asked for more, it fails the test."""

    def __init__(self, *turns: Turn, signs_reasoning: bool = True, window: int | None = None) -> None:
        self.turns = list(turns)
        self.requests: list[ModelRequest] = []
        self.on_request: Callable[[], Awaitable[None]] = _nothing
        """Awaited before each turn: what happens elsewhere meanwhile."""
        self._signs_reasoning = signs_reasoning
        self.window = window

    @property
    def context_window(self) -> int | None:
        return self.window

    @property
    def signs_reasoning(self) -> bool:
        return self._signs_reasoning

    def play(self, *turns: Turn) -> None:
        """Add turns."""
        self.turns.extend(turns)

    async def stream(self, request: ModelRequest, *, timeout_seconds: float) -> AsyncGenerator[Chunk, None]:
        self.requests.append(request)
        await self.on_request()
        assert self.turns, "a completion that no test foresaw"
        for piece in self.turns.pop(0):
            if isinstance(piece, Exception):
                raise piece
            yield piece

    @property
    def last_results(self) -> list[str]:
        """The results in the last message of the newest request, `name: text` in the order shown."""
        return results_of(self.requests[-1].messages[-1])


def results_of(message: RequestMessage) -> list[str]:
    """`name: text` of each result, in the order shown."""
    return [
        f"{part.name}: {' '.join(_text(block) for block in part.content)}"
        for part in message.parts
        if isinstance(part, ResultPart)
    ]


def _text(block: Any) -> str:
    if isinstance(block, Value):
        return str(getattr(block, "text", block.to_json()))
    return json.dumps(block.data)
