"""The clock port and its one real implementation: the only place that reads the time or waits.

Everything else takes a `Clock`, so that the simulator and the local stack can move time.
"""

import asyncio
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Time, as aware UTC."""

    def now(self) -> datetime:
        """The current instant, aware, UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait inside an invocation. For short backoff only; a thread that waits ends its slice."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


SYSTEM_CLOCK = SystemClock()


def iso(instant: datetime) -> str:
    """ISO 8601 UTC with milliseconds and `Z`, the form of every instant on the wire and in the store."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_iso(text: str) -> datetime:
    """The instant of an ISO 8601 string. Raises ValueError without an offset: local times are not instants."""
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        raise ValueError(f"{text!r} has no offset from UTC")
    return instant.astimezone(UTC)
