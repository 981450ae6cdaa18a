"""Who sent to which queue, counted, so that readers neither poll an empty queue nor sleep over a full one."""

from collections import Counter
from threading import Condition


class Arrivals:
    """Counts messages sent by queue name, and wakes whoever waits. For any thread."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._counts: Counter[str] = Counter()
        self._open = True

    def note(self, queue: str, messages: int = 1) -> None:
        """So many messages may have come into `queue`."""
        with self._changed:
            self._counts[queue] += messages
            self._changed.notify_all()

    def count(self, queue: str) -> int:
        """Messages that `queue` may have had so far."""
        with self._changed:
            return self._counts[queue]

    def wait(self, queue: str, seen: int, seconds: float | None) -> bool:
        """Wait, at most `seconds`, until `queue` had more than `seen` messages. False if not, and once closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._counts[queue] != seen or not self._open, seconds)
            return self._open and self._counts[queue] != seen

    def close(self) -> None:
        """Nobody waits any more."""
        with self._changed:
            self._open = False
            self._changed.notify_all()
