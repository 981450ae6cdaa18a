"""Folded threads kept by a container between slices (storage.md, "Warm"). Only ever a copy of confirmed commits."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.commit import Commit
from core.fold import fold_commits
from core.thread import FoldedThread
from infra.dynamodb.codec import StoredCommit

MAX_THREADS: Final = 256
MAX_BYTES: Final = 16 * 1024 * 1024
"""Of JSON text. What it is read into takes a few times as much memory."""


@dataclass(frozen=True, slots=True)
class KnownThread:
    """A thread up to its commit `last`."""

    folded: FoldedThread
    last: Commit
    size_bytes: int
    """About what its entries take as JSON."""


def known_after(known: KnownThread | None, newer: Sequence[StoredCommit]) -> KnownThread | None:
    """The thread after more commits, or from its first ones; None while there are none at all."""
    if not newer:
        return known
    before = known.folded if known else FoldedThread()
    after = fold_commits(before, [stored.commit for stored in newer])
    size_bytes = (known.size_bytes if known else 0) + sum(stored.size_bytes for stored in newer)
    entries = len(before.entries) + sum(len(stored.commit.entries) for stored in newer)
    kept = size_bytes * len(after.entries) // entries if entries else size_bytes
    return KnownThread(after, newer[-1].commit, kept)


class WarmThreads:
    """The threads seen last, bounded by count and by bytes."""

    def __init__(self, max_threads: int = MAX_THREADS, max_bytes: int = MAX_BYTES) -> None:
        self._max_threads = max_threads
        self._max_bytes = max_bytes
        self._threads: OrderedDict[str, KnownThread] = OrderedDict()
        self._size_bytes = 0

    def get(self, thread_id: str) -> KnownThread | None:
        known = self._threads.get(thread_id)
        if known is not None:
            self._threads.move_to_end(thread_id)
        return known

    def keep(self, thread_id: str, known: KnownThread) -> None:
        """Remember the thread, and forget those seen longest ago that there is no room for."""
        self.forget(thread_id)
        if known.size_bytes > self._max_bytes:
            return
        self._threads[thread_id] = known
        self._size_bytes += known.size_bytes
        while len(self._threads) > self._max_threads or self._size_bytes > self._max_bytes:
            self.forget(next(iter(self._threads)))

    def forget(self, thread_id: str) -> None:
        known = self._threads.pop(thread_id, None)
        if known is not None:
            self._size_bytes -= known.size_bytes

    def extend(self, stored: StoredCommit) -> None:
        """Take in a commit that was just confirmed, if the thread is known up to the one before."""
        commit = stored.commit
        known = self._threads.get(commit.thread_id)
        if commit.number == (known.last.number if known else 0) + 1:
            extended = known_after(known, [stored])
            if extended is not None:
                self.keep(commit.thread_id, extended)
