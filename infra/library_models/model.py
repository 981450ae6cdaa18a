"""`LibraryModel`: the model port over a model class of the library, through its direct API: one request, no agent.

Here are only the call, its time and its end. Nothing is tried again: the slice knows how much time is left.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from pydantic_ai.direct import model_request_stream
from pydantic_ai.models import StreamedResponse

from core.chunks import Chunk
from core.errors import ModelUnavailable
from core.request import ModelRequest
from core.strict import check_request
from infra.library_models.classes import model_of
from infra.library_models.errors import MODEL_FAILURES, UNDECODABLE, translated
from infra.library_models.request import library_request
from infra.library_models.stream import LibraryStream

OpenClient = Callable[[], Awaitable[Any]]
"""The provider's client, opened when first asked for, in the event loop that streams, without retries of its own."""


class LibraryModel:
    """One model of one of `APIS`, by the provider's name for it."""

    def __init__(self, provider: str, name: str, open_client: OpenClient) -> None:
        self._provider = provider
        self._name = name
        self._open_client = open_client

    @property
    def context_window(self) -> int | None:
        """Not known here: an agent says it by `Settings.context_window`."""
        return None

    @property
    def signs_reasoning(self) -> bool:
        """OpenAI's form of chat has reasoning only as text to look at: it is kept, and never sent back."""
        return self._provider == "anthropic"

    async def stream(self, request: ModelRequest, *, timeout_seconds: float) -> AsyncGenerator[Chunk, None]:
        """Stream one completion. Beside the port's errors, MalformedRequest."""
        check_request(request)
        ends_at = asyncio.get_running_loop().time() + timeout_seconds
        reading = LibraryStream(request.model)
        async with AsyncExitStack() as stack:
            async with self._bounded(ends_at):
                client = await self._open_client()
            model = model_of(self._provider, self._name, client)
            told = library_request(request, model, timeout_seconds)
            async with self._bounded(ends_at):
                response = await stack.enter_async_context(
                    model_request_stream(
                        model,
                        told.messages,
                        model_settings=told.settings,
                        model_request_parameters=told.parameters,
                        instrument=False,
                    )
                )
            events = aiter(response)
            while (event := await self._next(events, ends_at)) is not None:
                for chunk in reading.read(event):
                    yield chunk
            for chunk in reading.end(_details(response), response.usage):
                yield chunk

    async def _next(self, events: AsyncIterator[object], ends_at: float) -> object | None:
        """The next event, None at the end."""
        async with self._bounded(ends_at):
            return await anext(events, None)

    @asynccontextmanager
    async def _bounded(self, ends_at: float) -> AsyncIterator[None]:
        """Ends what waits at `ends_at`, of the event loop's time; raises the library's failures as the port's."""
        limit = asyncio.timeout_at(ends_at)
        try:
            async with limit:
                yield
        except MODEL_FAILURES as failure:
            if limit.expired():
                raise ModelUnavailable(f"{self._provider}: too slow for the time left") from failure
            raise translated(failure, self._provider) from failure
        except UNDECODABLE as failure:
            raise ModelUnavailable(f"{self._provider}: the stream holds what cannot be decoded") from failure


def _details(response: StreamedResponse) -> dict[str, Any]:
    """What the provider said of the whole answer."""
    return response.provider_details or {}
