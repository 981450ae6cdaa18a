"""`SyncAgentClient`: the client for programs without an event loop. It has one of its own, in a thread of its own.

So it works in scripts and in notebooks alike, where a loop may be running already.
"""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager
from enum import Enum
from threading import Thread
from typing import Any, Final, Literal, Self, TypeVar

from core.entries import Entry
from core.errors import MisuseError
from infra.client.client import AgentClient
from infra.client.opening import LocalStack
from infra.client.outcomes import Outcome
from infra.client.sending import OnBusy, WireContent
from infra.client.tree import ThreadNode
from infra.client.turns import Turn

T = TypeVar("T")
NOT_OPEN = "this client is not open: use it in a `with` statement"


class SyncAgentClient:
    """As `AgentClient`, whose docstrings tell what each method does. A context manager; for any thread.

    `opening`: the client to be opened, such as `AgentClient.of_stack("torpor")`.
    """

    def __init__(self, opening: AbstractAsyncContextManager[AgentClient]) -> None:
        self._opening = opening
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: AgentClient | None = None
        self._closing = ExitStack()

    @classmethod
    def of_stack(cls, name: str, region: str | None = None, *, endpoint_url: str | None = None) -> Self:
        """A client of a deployed stack; with `endpoint_url`, of a local one that runs by itself."""
        return cls(AgentClient.of_stack(name, region, endpoint_url=endpoint_url))

    @classmethod
    def local(cls, local: LocalStack) -> Self:
        """A client of a `LocalTorpor`."""
        return cls(AgentClient.local(local))

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            self._loop = opened.enter_context(_running_loop())
            opened.callback(self._forget)
            self._client = self.run(_entered(self._opening))
            opened.push(lambda *error: self.run(_left(self._opening, *error)))
            self._closing = opened.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._closing.__exit__(*error)

    def run(self, asking: Coroutine[Any, Any, T]) -> T:
        """What the coroutine gives, run where the client lives. Raises MisuseError if the client is not open."""
        if self._loop is None:
            asking.close()
            raise MisuseError(NOT_OPEN)
        answer = asyncio.run_coroutine_threadsafe(asking, self._loop)
        try:
            return answer.result()
        finally:
            answer.cancel()  # where the caller was interrupted; else it is done

    @property
    def client(self) -> AgentClient:
        """The asynchronous client, for coroutines given to `run`. Raises MisuseError if this one is not open."""
        if self._client is None:
            raise MisuseError(NOT_OPEN)
        return self._client

    def send(
        self,
        thread_id: str,
        content: WireContent,
        message_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        on_busy: OnBusy | None = None,
        agent: str | None = None,
    ) -> str:
        """As `AgentClient.send`."""
        return self.run(self.client.send(thread_id, content, message_id, metadata, on_busy, agent))

    def wait(self, thread_id: str, message_id: str, timeout_seconds: float) -> Outcome:
        """As `AgentClient.wait`."""
        return self.run(self.client.wait(thread_id, message_id, timeout_seconds))

    def follow(self, thread_id: str, after_seq: int = 0) -> Iterator[Entry]:
        """As `AgentClient.follow`."""
        return self._each(self.client.follow(thread_id, after_seq))

    def turns(self, thread_id: str, after_seq: int = 0) -> Iterator[Turn]:
        """As `AgentClient.turns`."""
        return self._each(self.client.turns(thread_id, after_seq))

    def tree(self, thread_id: str) -> ThreadNode:
        """As `AgentClient.tree`."""
        return self.run(self.client.tree(thread_id))

    def _each(self, values: AsyncGenerator[T, None]) -> Iterator[T]:
        """One after the other, each read when it is asked for."""
        try:
            while (value := self.run(_next(values))) is not _END:
                yield value
        finally:
            if self._loop is not None:
                self.run(_closed(values))

    def _forget(self) -> None:
        self._loop = self._client = None


class _End(Enum):
    """The mark of the end of a generator."""

    END = "end"


_END: Final = _End.END


async def _next(values: AsyncGenerator[T, None]) -> T | Literal[_End.END]:
    return await anext(values, _END)


async def _closed(values: AsyncGenerator[T, None]) -> None:
    await values.aclose()


async def _entered(opening: AbstractAsyncContextManager[T]) -> T:
    return await opening.__aenter__()


async def _left(opening: AbstractAsyncContextManager[T], *error: Any) -> None:
    await opening.__aexit__(*error)


@contextmanager
def _running_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop that runs in a thread of its own until the end, and is cleared there."""
    started: Future[asyncio.AbstractEventLoop] = Future()
    over = asyncio.Event()

    async def run() -> None:
        started.set_result(asyncio.get_running_loop())
        await over.wait()

    thread = Thread(target=lambda: asyncio.run(run()), name="torpor-client", daemon=True)
    thread.start()
    loop = started.result()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
