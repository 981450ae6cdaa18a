"""Importing an export: checked from end to end before anything is written, then written so that no half of it is read.

The tip goes first. A thread whose tip lies beyond its log is unreadable for everybody (storage.md, "Load"), so nobody
goes on with a thread before it is whole; an import that was interrupted is given again, and finishes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from core.clock import Clock
from core.commit import Commit
from core.errors import LostRace, MisuseError, UnreadableRecord
from core.fold import fold_commit
from core.keeping import KeepingStore
from core.thread import ThreadState
from core.transfer import End, Header, Line

Lines = Callable[[], Iterator[Line]]
"""Reads the file from its beginning, each time it is asked."""


class RestoringStore(KeepingStore, Protocol):
    """A store that threads can be brought back into."""

    async def hold(self, last: Commit, now: datetime, *, waiting: bool) -> None:
        """Move the thread's tip to its last commit, which need not be there yet. It expires as if made now."""
        ...

    async def release(self, last: Commit) -> None:
        """Take the tip back, if it is at this commit."""
        ...


@dataclass(slots=True)
class Imported:
    """A thread of the file."""

    digests: dict[int, str] = field(default_factory=dict)
    """By the commit's number."""
    state: ThreadState = ThreadState()
    last: Commit | None = None


async def import_threads(store: RestoringStore, lines: Lines, clock: Clock) -> dict[str, Imported]:
    """Bring back the threads of an export; giving the same one again is a success. Returns them by id.

    Nothing is sent: what is live in them waits for what stayed behind. Raises MisuseError, before anything is written,
    for a file that is no whole export, and for a thread that exists and is another one.
    """
    threads = checked(lines())
    for thread_id, thread in threads.items():
        await _require_free(store, thread_id, thread)
    for thread in threads.values():
        if thread.last is not None:
            await store.hold(thread.last, clock.now(), waiting=thread.state.waiting)
    for line in lines():
        if isinstance(line, Commit):
            await _write(store, line, threads[line.thread_id])
    return threads


def checked(lines: Iterator[Line]) -> dict[str, Imported]:
    """What the lines hold, by thread. Raises MisuseError unless they are a whole export whose logs hang together."""
    header, threads, commits, ended = next(lines, None), dict[str, Imported](), 0, False
    if not isinstance(header, Header):
        raise MisuseError("this is no export: its first line should say so")
    for line in lines:
        if ended or isinstance(line, Header):
            raise MisuseError("this is more than one export: something follows the end")
        if isinstance(line, End):
            ended = True
            if line.commits != commits:
                raise MisuseError(f"of {line.commits} commits {commits} are there")
        else:
            _add(threads.setdefault(line.thread_id, Imported()), line)
            commits += 1
    if not ended:
        raise MisuseError("the export was cut off: its end is missing")
    if header.thread_id not in threads:
        raise MisuseError(f"nothing of {header.thread_id!r} is there")
    for thread in threads.values():
        _require_lineage(thread, threads)
    return threads


def _add(thread: Imported, commit: Commit) -> None:
    """Raises MisuseError unless the commit follows the one before."""
    where, last = f"{commit.thread_id!r}, commit {commit.number}", thread.last
    if last is None:
        if commit.erased is None and (commit.number, commit.first_seq) != (1, 1):
            raise MisuseError(f"{where}: its log does not begin here")
    elif (commit.number, commit.first_seq) != (last.number + 1, last.last_seq + 1):
        raise MisuseError(f"{where} does not follow the one before")
    elif commit.birth != last.birth or commit.erased is not None:
        raise MisuseError(f"{where} is of another log")
    first = min(thread.digests, default=commit.number)
    if not first <= commit.from_number <= commit.number:
        raise MisuseError(f"{where}: its readers would begin nowhere")
    try:
        thread.state = fold_commit(thread.state, commit)
    except (LookupError, TypeError, ValueError, UnreadableRecord) as error:
        raise MisuseError(f"{where}: what it changes is not there") from error
    thread.digests[commit.number] = commit.digest
    thread.last = commit


def _require_lineage(thread: Imported, threads: dict[str, Imported]) -> None:
    """Every range that is read of another log is part of the file."""
    for ancestor in thread.state.origin.lineage:
        known = threads.get(ancestor.thread_id)
        wanted = {ancestor.last_commit, *([ancestor.base] if ancestor.base is not None else [])}
        if ancestor.first_commit <= ancestor.last_commit:
            wanted.add(ancestor.first_commit)
        if known is None or not wanted - {0} <= known.digests.keys():
            raise MisuseError(f"what is read of {ancestor.thread_id!r} is not part of the export")


async def _require_free(store: RestoringStore, thread_id: str, thread: Imported) -> None:
    """Nothing is there, or a part of this very log."""
    newest = await store.newest(thread_id)
    if newest is not None and newest.erased is not None:
        raise MisuseError(f"thread {thread_id!r} was erased here: import it into another stack")
    if newest is not None and thread.digests.get(newest.number) != newest.digest:
        raise MisuseError(f"there is a thread {thread_id!r} already, and it is another or has gone on")


async def _write(store: RestoringStore, commit: Commit, thread: Imported) -> None:
    try:
        await store.commit(commit)
    except LostRace as error:
        if thread.last is not None:
            await store.release(thread.last)
        raise MisuseError(f"{commit.thread_id!r} has just been made by somebody else") from error
    await store.mark(commit)
