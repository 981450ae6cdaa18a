"""Fresh processes, one for each slice: what a thread is has to come from what is stored, as JSON text.

Run as a program it is the disk, and a warmed interpreter: for each input it forks a process, which runs the slice,
hands back what it wrote, and ends. A process that starts from nothing takes a second; a fork takes milliseconds, and
knows as little of the thread.
"""

import asyncio
import gc
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from core.app import load_app
from core.commit import Commit, commit_from_text, commit_text
from core.messages import Envelope
from core.parsing import parse_input
from core.slice import SlicePorts, run_slice
from core.text import wire_json
from infra.memory import MemoryClock, MemoryStore
from infra.models import model_for
from tests.support.inputs import THREAD, user
from tests.support.recording import RecordingDispatcher
from tests.support.world import START, WEB

ROOT = Path(__file__).parents[2]


class Disk(MemoryStore):
    """A store that notes what is written, so that it can be written again elsewhere."""

    def __init__(self) -> None:
        super().__init__(MemoryClock(START))
        self.written: list[tuple[str, str]] = []

    async def commit(self, commit: Commit) -> None:
        await super().commit(commit)
        self.written.append(("commit", commit_text(commit)))

    async def mark(self, commit: Commit) -> None:
        await super().mark(commit)
        self.written.append(("mark", commit_text(commit)))

    async def settled(self, commit: Commit, *, waiting: bool) -> None:
        await super().settled(commit, waiting=waiting)
        self.written.append(("settled", commit_text(commit)))

    async def replay(self, written: Sequence[tuple[str, str]]) -> None:
        """Write what another process has written."""
        for what, text in written:
            commit = commit_from_text(text)
            match what:
                case "commit":
                    await self.commit(commit)
                case "mark":
                    await self.mark(commit)
                case _:
                    await self.settled(commit, waiting=False)
        self.written.clear()


@dataclass
class FreshProcesses:
    """As a context: takes each message of a thread in a process of its own."""

    app: str
    """`module:attribute`."""
    pids: list[int] = field(default_factory=list)
    outputs: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    """What was sent to the worker `web`."""
    commits: list[Commit] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, self.app],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )
        return self

    def __exit__(self, *raised: object) -> None:
        self._process.communicate()

    def take(self, **body: Any) -> None:
        """Run the slice of one message."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(wire_json({"thread_id": THREAD, **body}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the process died without an answer"
        did = json.loads(line)
        self.pids.append(did["pid"])
        self.outputs += did["outputs"]
        self.calls += did["calls"]
        self.commits += [commit_from_text(text) for what, text in did["written"] if what == "commit"]

    async def store(self) -> MemoryStore:
        """All that was committed."""
        store = MemoryStore(MemoryClock(START))
        for commit in self.commits:
            await store.commit(commit)
        return store


async def _slice(spec: str, store: Disk, body: str) -> dict[str, Any]:
    app = load_app(spec)
    clock = MemoryClock(START)
    dispatcher = RecordingDispatcher(clock)
    ports = SlicePorts(store, dispatcher, lambda name: model_for(name, ROOT, clock), clock)
    taken = parse_input(body, Envelope("sqs", THREAD))
    await run_slice(app, ports, THREAD, [taken], seconds_left=lambda: 900.0)
    sent = {"outputs": dispatcher.outputs, "calls": dispatcher.bodies(WEB)}
    return {"pid": os.getpid(), "written": store.written, **sent}


def _in_a_fork(spec: str, disk: Disk, body: str) -> str:
    """What the process answers that did it."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        did = asyncio.run(_slice(spec, disk, body))
        with os.fdopen(writing, "w") as answer:
            json.dump(did, answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answered:
        text = answered.read()
    os.waitpid(pid, 0)
    return text


def _main(spec: str) -> None:
    """A thread that is nowhere stored first: what does not depend on any is prepared before the forks."""
    for number in range(2):
        asyncio.run(_slice(spec, Disk(), user("hello", f"m{number}").body))
    gc.freeze()
    disk = Disk()
    while body := sys.stdin.readline():
        answer = _in_a_fork(spec, disk, body)
        asyncio.run(disk.replay(json.loads(answer)["written"]))
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main(sys.argv[1])
