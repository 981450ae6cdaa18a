"""One completion: the request checked and streamed, tried again inside the time left.

What comes out says how it ended; the round decides what that means for the thread.
"""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from core.chunks import Chunk, Completed, ReasoningBlock, ReasoningDelta
from core.clock import Clock
from core.errors import ModelRefused, ModelUnavailable
from core.ports import Model, Observer
from core.request import ModelRequest
from core.slice.notices import ThinkingEnded, ThinkingStarted, TurnDiscarded
from core.slice.ports import time_for_completion
from core.slice.requests import with_attempt
from core.strict import check_request

TRIES_PER_SLICE = 3
FIRST_PAUSE_SECONDS = 1.0


class Collecting(Protocol):
    """What a completion is streamed into: the history manager's turn buffer, for a turn."""

    def handle_completion(self, chunk: Chunk) -> None:
        """Take one more chunk."""

    def discard_turn(self) -> None:
        """Forget what was taken: the attempt failed."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What was streamed into holds the whole completion."""

    completed: Completed


@dataclass(frozen=True, slots=True)
class Unavailable:
    """No try of this slice succeeded; what was streamed into holds what the last one gave."""

    tries: int
    """Of this completion, counted over slices."""
    reason: str


@dataclass(frozen=True, slots=True)
class RefusedForGood:
    """The model will never answer this request."""

    error: ModelRefused


Ending = Finished | Unavailable | RefusedForGood


@dataclass(frozen=True, slots=True)
class Completing:
    """What every try of a completion needs."""

    into: Collecting
    model: Model
    clock: Clock
    observer: Observer
    seconds_left: Callable[[], float]
    tries_before: int
    """Tries of this completion in earlier slices."""
    most_tries: int

    async def complete(self, request: ModelRequest) -> Ending:
        """Stream the request, retrying what may work later while there is time and tries are left."""
        tries, pause_seconds = self.tries_before, FIRST_PAUSE_SECONDS
        while True:
            tries += 1
            try:
                return Finished(await self._stream(with_attempt(request, tries)))
            except ModelUnavailable as error:
                reason = str(error) or type(error).__name__
            except ModelRefused as error:
                self.into.discard_turn()
                return RefusedForGood(error)
            again = tries - self.tries_before < TRIES_PER_SLICE and tries < self.most_tries
            if not again or not time_for_completion(self.seconds_left() - pause_seconds):
                return Unavailable(tries, reason)
            self._discard(reason)
            await self.clock.sleep(pause_seconds)
            pause_seconds *= 2

    def _discard(self, reason: str) -> None:
        self.into.discard_turn()
        self.observer.notice(TurnDiscarded(reason))

    async def _stream(self, request: ModelRequest) -> Completed:
        check_request(request)
        seconds = time_for_completion(self.seconds_left())
        if not seconds:
            raise ModelUnavailable("no time left for a completion")
        thinking = _Thinking(self.observer)
        try:
            stream = self.model.stream(request, timeout_seconds=seconds)
            async with asyncio.timeout(seconds), aclosing(stream):
                async for chunk in stream:
                    thinking.see(chunk)
                    self.observer.notice(chunk)
                    if self._is_kept(chunk):
                        self.into.handle_completion(chunk)
                    if isinstance(chunk, Completed):
                        return chunk
        except TimeoutError as error:
            raise ModelUnavailable("the model was too slow for the time left") from error
        raise ModelUnavailable("the stream ended before its end marker")

    def _is_kept(self, chunk: Chunk) -> bool:
        """Unsigned reasoning is shown, but could not be sent back to a provider that signs."""
        if not isinstance(chunk, ReasoningBlock) or not self.model.signs_reasoning:
            return True
        return bool(chunk.signature or chunk.redacted)


class _Thinking:
    """Tells the observer when reasoning begins and when it is over."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._on = False

    def see(self, chunk: Chunk) -> None:
        reasoning = isinstance(chunk, ReasoningDelta)
        if reasoning and not self._on:
            self._observer.notice(ThinkingStarted())
        if self._on and not reasoning:
            self._observer.notice(ThinkingEnded())
        self._on = reasoning
