"""Virtual time: an event loop that never waits, and the one clock that everything in a simulation goes by.

The loop runs whatever is ready, then returns to whoever drives it; time stands still until it is moved. So a run has no
real time and no threads in it, and is the same every time.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

from core.clock import Clock

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


class _Quiescence(selectors.SelectSelector):
    """Asked to wait, it stops the loop instead: nothing is ready, so the next step is the driver's to take."""

    loop: "VirtualLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout > 0:
            self.loop.wait_seconds = timeout
            self.loop.stop()
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """Runs until nothing is ready, at one instant of virtual time."""

    def __init__(self) -> None:
        selector = _Quiescence()
        selector.loop = self
        super().__init__(selector)
        self.elapsed_seconds = 0.0
        self.wait_seconds: float | None = None
        """How long the loop would wait for its next timer now; None: it has none."""
        self.set_exception_handler(lambda *_: None)

    def time(self) -> float:
        return self.elapsed_seconds

    def settle(self) -> None:
        """Run everything that can run at this instant."""
        self.run_forever()

    def dispose(self) -> None:
        """Cancel what was left behind, and close. Nothing that is cancelled can have an effect: ports see to that."""
        for _ in range(10):
            left = [task for task in asyncio.all_tasks(self) if not task.done()]
            if not left:
                break
            for task in left:
                task.cancel()
            self.settle()
        self._run(self.shutdown_asyncgens())
        self.close()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        self.create_task(work)
        self.settle()


class VirtualClock(Clock):
    """The loop's time as instants."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def now(self) -> datetime:
        return START + timedelta(seconds=self._loop.elapsed_seconds)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def move_to(self, instant: datetime) -> None:
        """Let time pass. It never goes back."""
        self._loop.elapsed_seconds = max(self._loop.elapsed_seconds, (instant - START).total_seconds())
