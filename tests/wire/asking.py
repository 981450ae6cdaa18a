"""Asking the wire server as a function asks Bedrock: the adapter, over the client that a container opens."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from core.blocks import TextBlock
from core.chunks import CallChunk, Chunk, Completed, TextChunk
from core.ports import Model
from core.request import CallPart, ModelRequest, Part, ReasoningPart, RequestMessage, ResultPart, ToolSpec
from handlers.clients import AsyncClients, AwsAccess
from infra.bedrock.model import BedrockModel
from tests.wire.server import ConverseServer

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
ADAPTIVE = "global.anthropic.claude-opus-4-7"
NOVA = "us.amazon.nova-pro-v1:0"
UNKNOWN = "maker.model-of-tomorrow-v1:0"
TOOLS = (ToolSpec("search", "Search.", {"type": "object", "properties": {"q": {"type": "string"}}}),)
ENOUGH_SECONDS = 20.0


@asynccontextmanager
async def asking(server: ConverseServer, model_id: str = CLAUDE) -> AsyncIterator[BedrockModel]:
    """The model of that id, at the server."""
    clients = AsyncClients(AwsAccess("us-east-1", server.url))
    client = await clients.open("bedrock-runtime", read_timeout_seconds=ENOUGH_SECONDS)

    async def open_client() -> Any:
        return client

    try:
        yield BedrockModel(model_id, open_client)
    finally:
        await clients.close()


def user(*parts: str | Part) -> RequestMessage:
    return RequestMessage("user", _parts(parts))


def assistant(*parts: str | Part) -> RequestMessage:
    return RequestMessage("assistant", _parts(parts))


def _parts(parts: tuple[str | Part, ...]) -> tuple[Part, ...]:
    return tuple(TextBlock(text=part) if isinstance(part, str) else part for part in parts)


def called(call_id: str = "c1", **args: Any) -> CallPart:
    return CallPart(call_id, "search", args)


def answered(call_id: str = "c1", text: str = "found", **fields: Any) -> ResultPart:
    return ResultPart(call_id, "search", (TextBlock(text=text),), **fields)


def thought(text: str = "hm", signature: str | None = "sig", redacted: str | None = None) -> ReasoningPart:
    return ReasoningPart(text, signature, redacted)


def request(*messages: RequestMessage, **fields: Any) -> ModelRequest:
    """With tools, and `hello` unless there are messages."""
    return ModelRequest(
        **{"model": "bedrock:m", "messages": messages or (user("hello"),), "tools": TOOLS, **fields}
    )


async def ask(
    model: Model,
    asked: ModelRequest | None = None,
    *,
    timeout_seconds: float = ENOUGH_SECONDS,
    into: list[Chunk] | None = None,
) -> list[Chunk]:
    """All chunks of one completion; also put `into` a list as they come, to see what came before an error."""
    chunks: list[Chunk] = [] if into is None else into
    async for chunk in model.stream(asked or request(), timeout_seconds=timeout_seconds):
        chunks.append(chunk)
    return chunks


def text_of(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))


def calls_of(chunks: list[Chunk]) -> list[CallChunk]:
    return [chunk for chunk in chunks if isinstance(chunk, CallChunk)]


def end_of(chunks: list[Chunk]) -> Completed:
    """The end marker: the last chunk, and the only one."""
    (end,) = (chunk for chunk in chunks if isinstance(chunk, Completed))
    assert chunks[-1] is end
    return end
