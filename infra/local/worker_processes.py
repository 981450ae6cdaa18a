"""`WorkerProcess`: a worker of the live stack as a process of its own, started again if it dies."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from tempfile import TemporaryFile
from threading import Event, Thread
from typing import IO

MOST_STARTS = 4
STOP_SECONDS = 3.0


class WorkerProcess:
    """Runs `infra.local.worker_process` until it is closed."""

    def __init__(
        self,
        worker: str,
        arguments: Sequence[str],
        environ: Mapping[str, str],
        on_trouble: Callable[[str], None],
    ) -> None:
        self.worker = worker
        self._command = [sys.executable, "-m", "infra.local.worker_process", *arguments]
        self._environ = {**os.environ, **environ}
        self._on_trouble = on_trouble
        self._stopping = Event()
        self._errors: IO[bytes] = TemporaryFile()  # noqa: SIM115 - lives as long as the process that writes to it
        self._process = self._start()
        self._watch = Thread(target=self._keep_running, name=f"torpor-worker-{worker}", daemon=True)
        self._watch.start()

    def close(self) -> None:
        """End the process, at once: what it has not answered is nobody's any more."""
        self._stopping.set()
        process = self._process
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
        self._watch.join(STOP_SECONDS)
        self._errors.close()

    def _start(self) -> subprocess.Popen[bytes]:
        """The open standard input is how the process knows that this one is alive."""
        return subprocess.Popen(
            self._command,
            env=self._environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
        )

    def _keep_running(self) -> None:
        for start in range(1, MOST_STARTS + 1):
            self._process.wait()
            if self._stopping.is_set():
                return
            if self._process.stdin is not None:
                self._process.stdin.close()
            if start < MOST_STARTS:
                self._process = self._start()
        self._on_trouble(f"worker {self.worker!r} ended {MOST_STARTS} times: {self._last_words()}")

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"
