"""A clock that stands still until it is moved: time for tests, the simulator and everything else in memory."""

from datetime import datetime, timedelta

from core.errors import MisuseError


class MemoryClock:
    """Implements `core.clock.Clock`. Who sleeps moves it: waiting takes no real time and is the same in every run."""

    def __init__(self, start: datetime) -> None:
        if start.tzinfo is None:
            raise MisuseError("a clock starts at an aware instant: give it a time zone")
        self._now = start

    def now(self) -> datetime:
        return self._now

    async def sleep(self, seconds: float) -> None:
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass. Time never goes back."""
        if seconds < 0:
            raise MisuseError(f"a clock cannot go back by {-seconds} seconds")
        self._now += timedelta(seconds=seconds)
