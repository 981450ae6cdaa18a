"""How requests to DynamoDB and S3 are made: tried again inside the time left, translated once, in parallel or not.

The SDK's own retries are off (its client is configured so by whoever makes it): it knows nothing of the time left.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from core.clock import Clock
from infra.aws_errors import AWS_FAILURES, Failure, code_of, failure_of, translated

T = TypeVar("T")

Client = Any
"""An aiobotocore client: made at run time from the service's description, so it has no type."""

MAX_TRIES: Final = 8
FIRST_WAIT_SECONDS: Final = 0.05
LONGEST_WAIT_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Patience:
    """Asks again while the failure is transient, tries are left, and the wait ends before the time does."""

    clock: Clock
    seconds_left: Callable[[], float]

    async def ask(
        self, action: str, send: Callable[[], Awaitable[T]], *, answers: frozenset[str] = frozenset()
    ) -> T:
        """The response to `send`. Error codes in `answers` are answers, not failures: raised as they are, at once.

        Raises StoreUnavailable; MisuseError for a request that can never succeed.
        """
        tries = 0
        while True:
            try:
                async with asyncio.timeout(self._bound()):
                    return await send()
            except AWS_FAILURES as failure:
                if code_of(failure) in answers:
                    raise
                if failure_of(failure) is not Failure.TRANSIENT or not await self.wait(tries):
                    raise translated(failure, action) from failure
            tries += 1

    async def wait(self, tries: int) -> bool:
        """Wait before trying again after `tries` earlier tries. False, at once, if it is time to give up."""
        seconds = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2**tries)
        if tries + 1 >= MAX_TRIES or seconds >= self.seconds_left():
            return False
        await self.clock.sleep(seconds)
        return True

    def _bound(self) -> float | None:
        left = self.seconds_left()
        return None if math.isinf(left) else max(0.0, left)


@asynccontextmanager
async def parallel() -> AsyncIterator[asyncio.TaskGroup]:
    """A task group that, when one task fails, stops the others and raises that failure itself."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as failures:
        first = failures.exceptions[0]
        raise first from first.__cause__
