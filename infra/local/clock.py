"""`LocalClock`: the local stack's time. It runs with the machine's, and can be moved on so that due timers fire."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import RLock

from core.clock import SYSTEM_CLOCK
from core.errors import MisuseError


class LocalClock:
    """Implements `core.clock.Clock`, for any thread.

    Without `start` it begins at the real time and runs; with `start` it stands there until it is moved. Who sleeps
    moves it, unless `real_time`: then sleeping takes as long as it says, as in `torpor chat`.
    """

    def __init__(self, start: datetime | None = None, *, real_time: bool = False) -> None:
        if start is not None and start.tzinfo is None:
            raise MisuseError("a clock starts at an aware instant: give `start` a time zone")
        self._lock = RLock()
        self._real_time = real_time
        self._ahead = timedelta()
        self._stands_at = start

    def now(self) -> datetime:
        with self._lock:
            return self._stands_at if self._stands_at is not None else SYSTEM_CLOCK.now() + self._ahead

    async def sleep(self, seconds: float) -> None:
        if self._real_time:
            await SYSTEM_CLOCK.sleep(seconds)
            return
        self.advance(seconds)
        await SYSTEM_CLOCK.sleep(0)

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass."""
        if seconds < 0:
            raise MisuseError(f"a clock cannot go back by {-seconds} seconds")
        with self._lock:
            self.move_to(self.now() + timedelta(seconds=seconds))

    def move_to(self, instant: datetime) -> None:
        """Let the time pass until `instant`; nothing if that is over."""
        with self._lock:
            ahead = instant - self.now()
            if ahead <= timedelta():
                return
            if self._stands_at is not None:
                self._stands_at = instant
            else:
                self._ahead += ahead

    @contextmanager
    def held(self) -> Iterator[None]:
        """Time passes only by moving meanwhile: what takes the machine a moment takes none of this clock's."""
        with self._lock:
            if self._stands_at is not None:
                runs = False
            else:
                runs, self._stands_at = True, self.now()
        try:
            yield
        finally:
            if runs:
                self._let_run()

    def _let_run(self) -> None:
        with self._lock:
            if self._stands_at is not None:
                self._ahead = self._stands_at - SYSTEM_CLOCK.now()
                self._stands_at = None
