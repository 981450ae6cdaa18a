"""Function processes of the emulator, killed while they work: at which completions, how long after they are asked for,
and whom, a seed says.
"""

import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from os import kill
from signal import SIGKILL
from threading import Lock, Timer

from core.ids import digest

LONGEST_MS = 400
"""After a completion was asked for. It is answered long before; then its slice goes on, or a worker."""
ONE_IN = 3
"""Completions, as many again without a kill: what comes again after one must get through."""


@dataclass
class Killer:
    """Kills at most so many of the processes that `emulator`, a process, has started. For any thread."""

    emulator: int
    seed: str
    most: int
    killed: int = 0
    _draws: int = 0
    _due: list[Timer] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def sees_a_completion(self) -> None:
        """Somebody works: perhaps somebody dies."""
        with self._lock:
            if self._draw() % ONE_IN == 0 and len(self._due) < self.most:
                timer = Timer(self._draw() % LONGEST_MS / 1000, self._kill, [self._draw()])
                self._due.append(timer)
                timer.start()

    def rests(self) -> None:
        """Nobody is killed any more."""
        with self._lock:
            self.most = 0
        for timer in self._due:
            timer.join()

    def _kill(self, whom: int) -> None:
        if functions := functions_of(self.emulator):
            with suppress(ProcessLookupError):
                kill(functions[whom % len(functions)], SIGKILL)
                self.killed += 1

    def _draw(self) -> int:
        self._draws += 1
        return int.from_bytes(digest(self.seed, self._draws).encode(), "big")


def functions_of(emulator: int) -> list[int]:
    """Ids of the processes that it started and that live, oldest first: each is one function's."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True
    )
    rows = [line.split() for line in listed.stdout.splitlines()]
    return [int(pid) for pid, parent, state in rows if int(parent) == emulator and not state.startswith("Z")]
