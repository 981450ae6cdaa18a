"""Playing a script in a test: requests in few words, a clock that moves only by sleeping, and what came out."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from core.blocks import TextBlock
from core.chunks import CallChunk, Chunk, Completed, TextChunk
from core.request import (
    CallPart,
    JsonObject,
    ModelRequest,
    Part,
    RequestContext,
    RequestMessage,
    ResultPart,
    ToolSpec,
)
from core.tools.names import EVENT_TOOL_NAME
from infra.scripted.model import ScriptedModel
from infra.scripted.script import Script

TOOL = ToolSpec("search", "Search.", {"type": "object"})


class SleepingClock:
    """Time passes only by sleeping."""

    def __init__(self) -> None:
        self.slept_seconds: list[float] = []

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=sum(self.slept_seconds))

    async def sleep(self, seconds: float) -> None:
        self.slept_seconds.append(seconds)


def user(text: str) -> RequestMessage:
    return RequestMessage("user", (TextBlock(text=text),))


def assistant(text: str) -> RequestMessage:
    return RequestMessage("assistant", (TextBlock(text=text),))


def calls(*names: str, **args: Any) -> RequestMessage:
    """Calls of the named tools, all with `args`; their ids count from 0."""
    return RequestMessage(
        "assistant", tuple(CallPart(f"c{index}", name, args) for index, name in enumerate(names))
    )


def results(*answers: tuple[str, str | dict[str, Any]], then: str = "") -> RequestMessage:
    """(tool, what it answered) for each call of `calls`, and perhaps user text after them."""
    parts: list[Part] = []
    for index, (name, answer) in enumerate(answers):
        content = TextBlock(text=answer) if isinstance(answer, str) else JsonObject(answer)
        parts.append(ResultPart(f"c{index}", name, (content,)))
    if then:
        parts.append(TextBlock(text=then))
    return RequestMessage("user", tuple(parts))


def event(text: str, **origin: Any) -> tuple[RequestMessage, RequestMessage]:
    """An injected event: a call that names the original one, and its result."""
    pair = (
        CallPart("e0", EVENT_TOOL_NAME, origin),
        ResultPart("e0", EVENT_TOOL_NAME, (TextBlock(text=text),)),
    )
    return RequestMessage("assistant", pair[:1]), RequestMessage("user", pair[1:])


def request(*messages: RequestMessage, **context: Any) -> ModelRequest:
    return ModelRequest(
        model="script:test.json", messages=messages, tools=(TOOL,), context=RequestContext(**context)
    )


def model(
    *rules: tuple[dict[str, Any], dict[str, Any]], clock: SleepingClock | None = None, **script: Any
) -> ScriptedModel:
    """A model that plays (`when`, `reply`) rules."""
    written = {"rules": [{"when": when, "reply": reply} for when, reply in rules], **script}
    return ScriptedModel(Script.model_validate(written), clock or SleepingClock())


async def stream(
    played: ScriptedModel,
    asked: ModelRequest,
    *,
    timeout_seconds: float = 60,
    into: list[Chunk] | None = None,
) -> list[Chunk]:
    """All chunks; also put `into` a list as they come, to see what came before an error."""
    chunks: list[Chunk] = [] if into is None else into
    async for chunk in played.stream(asked, timeout_seconds=timeout_seconds):
        chunks.append(chunk)
    return chunks


def text_of(chunks: Sequence[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))


def calls_of(chunks: Sequence[Chunk]) -> list[CallChunk]:
    return [chunk for chunk in chunks if isinstance(chunk, CallChunk)]


def end_of(chunks: Sequence[Chunk]) -> Completed:
    last = chunks[-1]
    assert isinstance(last, Completed)
    return last


async def reply_text(asked: ModelRequest, *whens: dict[str, Any]) -> str:
    """Which of the rules held: rule 0 answers "0" …; "none" if no rule did."""
    rules = [(when, {"text": str(index)}) for index, when in enumerate(whens)]
    return text_of(await stream(model(*rules, ({}, {"text": "none"})), asked))
