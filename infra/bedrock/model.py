"""`BedrockModel`: the model port over Bedrock's Converse streaming API.

What is asked and what comes back are translated by `request.py` and `stream.py`; here are only the call, its time and
its end. Nothing is tried again: the slice knows how much time is left.
"""

import asyncio
import struct
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from core.chunks import Chunk, Completed
from core.errors import ModelUnavailable
from core.request import ModelRequest
from core.strict import check_request
from infra.bedrock.capabilities import Capabilities, capabilities_of
from infra.bedrock.errors import MODEL_FAILURES, translated
from infra.bedrock.request import converse_request
from infra.bedrock.stream import ConverseStream

SERVICE: Final = "bedrock-runtime"
READ_OUT_SECONDS: Final = 0.5
"""A new connection to AWS takes about as long as is waited here at most."""
UNDECODABLE: Final = (AttributeError, LookupError, RecursionError, TypeError, ValueError, struct.error)
"""What the SDK raises for an event that is not of the shape it expects: it does not look before it takes apart."""
OpenClient = Callable[[], Awaitable[Any]]
"""The `bedrock-runtime` client, opened when first asked for, in the event loop that streams. It makes no retries of its
own, and has a read timeout, which no call can change: it bounds a silence, `timeout_seconds` the whole call."""


class BedrockModel:
    """One model, by its id, inference profile or ARN."""

    def __init__(self, model_id: str, open_client: OpenClient) -> None:
        self._model_id = model_id
        self._open_client = open_client
        self.capabilities: Capabilities = capabilities_of(model_id)

    @property
    def context_window(self) -> int | None:
        return self.capabilities.context_window

    @property
    def signs_reasoning(self) -> bool:
        return self.capabilities.signs_reasoning

    async def stream(self, request: ModelRequest, *, timeout_seconds: float) -> AsyncGenerator[Chunk, None]:
        """Stream one completion. Beside the port's errors, MalformedRequest."""
        check_request(request)
        ends_at = asyncio.get_running_loop().time() + timeout_seconds
        arguments = converse_request(request, self._model_id, self.capabilities)
        reading = ConverseStream(request.model)
        async with self._events(arguments, ends_at) as events:
            while (event := await _next(events, ends_at)) is not None:
                for chunk in reading.read(event):
                    if isinstance(chunk, Completed):
                        await _read_out(events, ends_at)
                        yield chunk
                        return
                    yield chunk
        for chunk in reading.end():
            yield chunk

    @asynccontextmanager
    async def _events(
        self, arguments: dict[str, Any], ends_at: float
    ) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        """The events of one call. At the end the connection is given back, or closed if something is still to come."""
        async with _bounded(ends_at):
            client = await self._open_client()
            response = await client.converse_stream(**arguments)
        try:
            yield aiter(response["stream"])
        finally:
            response["stream"].close()


async def _next(events: AsyncIterator[dict[str, Any]], ends_at: float) -> dict[str, Any] | None:
    """The next event, None at the end."""
    try:
        async with _bounded(ends_at):
            return await anext(events, None)
    except UNDECODABLE as failure:
        raise ModelUnavailable("Bedrock: the stream holds what cannot be decoded") from failure


async def _read_out(events: AsyncIterator[dict[str, Any]], ends_at: float) -> None:
    """Read the little that follows a whole turn, so that its connection can be used again. If it fails, it cannot.

    Takes half of the time left at most: the caller ends a call at the same instant, and would lose the turn.
    """
    seconds = min(READ_OUT_SECONDS, (ends_at - asyncio.get_running_loop().time()) / 2)
    with suppress(*MODEL_FAILURES, *UNDECODABLE):
        async with asyncio.timeout(seconds):
            async for _ in events:
                pass


@asynccontextmanager
async def _bounded(ends_at: float) -> AsyncIterator[None]:
    """Ends what waits at `ends_at`, of the event loop's time; raises Bedrock's failures as the port's."""
    limit = asyncio.timeout_at(ends_at)
    try:
        async with limit:
            yield
    except MODEL_FAILURES as failure:
        if limit.expired():
            raise ModelUnavailable("Bedrock: too slow for the time left") from failure
        raise translated(failure) from failure
