"""What a container keeps between slices (storage.md, "Warm"): folded threads, and ranges of logs that others inherit.
Only ever a copy of confirmed commits.
"""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from core.commit import Commit
from core.fold import fold_commits
from core.lineage import RangeRead
from core.thread import Ancestor, FoldedThread
from infra.dynamodb.codec import StoredCommit

MAX_THREADS: Final = 256
MAX_BYTES: Final = 16 * 1024 * 1024
"""Of JSON text. What it is read into takes a few times as much memory."""
MAX_RANGES: Final = 64
MAX_RANGE_BYTES: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class KnownThread:
    """A thread up to its commit `last`."""

    folded: FoldedThread
    last: Commit
    size_bytes: int
    """About what its entries take as JSON."""


@dataclass(frozen=True, slots=True)
class KnownRange:
    """What was read of a log that others inherit."""

    read: RangeRead
    size_bytes: int
    """About what it takes as JSON."""


def known_after(known: KnownThread | None, newer: Sequence[StoredCommit]) -> KnownThread | None:
    """The thread after more commits, or from its first ones; None while there are none at all."""
    if not newer:
        return known
    before = known.folded if known else FoldedThread()
    after = fold_commits(before, [stored.commit for stored in newer])
    whole = next((index for index in reversed(range(len(newer))) if newer[index].commit.checkpoint), None)
    counted, known = (newer, known) if whole is None else (newer[whole:], None)
    size_bytes = (known.size_bytes if known else 0) + sum(stored.size_bytes for stored in counted)
    entries = len(known.folded.entries if known else ()) + sum(len(stored.commit.held) for stored in counted)
    kept = size_bytes * len(after.entries) // entries if entries else size_bytes
    return KnownThread(after, newer[-1].commit, kept)


class Sized(Protocol):
    @property
    def size_bytes(self) -> int: ...


Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept", bound=Sized)


class SeenLast(Generic[Key, Kept]):
    """What was seen last, bounded by count and by bytes."""

    def __init__(self, max_count: int, max_bytes: int) -> None:
        self._max_count = max_count
        self._max_bytes = max_bytes
        self._kept: OrderedDict[Key, Kept] = OrderedDict()
        self._size_bytes = 0

    def get(self, key: Key) -> Kept | None:
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
        return kept

    def keep(self, key: Key, value: Kept) -> None:
        """Remember the value, and forget those seen longest ago that there is no room for."""
        self.forget(key)
        if value.size_bytes > self._max_bytes:
            return
        self._kept[key] = value
        self._size_bytes += value.size_bytes
        while len(self._kept) > self._max_count or self._size_bytes > self._max_bytes:
            self.forget(next(iter(self._kept)))

    def forget(self, key: Key) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._size_bytes -= kept.size_bytes


class WarmRanges(SeenLast[Ancestor, KnownRange]):
    """Ranges of logs, by what a lineage says of them: history behind a cutoff never changes (*append-only*)."""

    def __init__(self, max_ranges: int = MAX_RANGES, max_bytes: int = MAX_RANGE_BYTES) -> None:
        super().__init__(max_ranges, max_bytes)


class WarmThreads(SeenLast[str, KnownThread]):
    """Threads by id."""

    def __init__(self, max_threads: int = MAX_THREADS, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(max_threads, max_bytes)

    def extend(self, stored: StoredCommit) -> None:
        """Take in a commit that was just confirmed, if the thread is known up to the one before."""
        commit = stored.commit
        known = self._kept.get(commit.thread_id)
        if commit.number == (known.last.number if known else 0) + 1:
            extended = known_after(known, [stored])
            if extended is not None:
                self.keep(commit.thread_id, extended)
