"""What taking threads away asks of a store, and how it can end. Apart from the ports of a slice: it deletes nothing."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from core.commit import Commit
from core.outbox import SendSpawn
from core.ports import ThreadStore

PAGE = 200
"""Commits read at a time."""

Reason = Literal["lives", "parent", "children", "unsettled", "readers", "busy"]
"""Why a thread stays: it does not expire (any more); its parent waits for it; it has open children; its last commit has
messages to send; others read its log; each time somebody else committed first.
"""


class Page(Protocol):
    """Consecutive commits of a log, oldest first."""

    @property
    def commits(self) -> tuple[Commit, ...]: ...

    @property
    def more(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Cleared:
    """What was deleted."""

    commits: int = 0
    payloads: int = 0


class KeepingStore(ThreadStore, Protocol):
    """A thread store from which threads can be taken. Each method raises StoreUnavailable, and may be called again."""

    async def newest(self, thread_id: str) -> Commit | None:
        """The newest commit."""
        ...

    async def page(self, thread_id: str, number: int, limit: int) -> Page:
        """Commits from `number` on, at most `limit`."""
        ...

    async def readers(self, thread_id: str) -> tuple[str, ...]:
        """Ids of those written down as readers of this log."""
        ...

    async def look_again(self, thread_id: str, at: datetime) -> None:
        """Let the thread expire once more: unless its tip is there, one that says nothing stands for it until `at`."""
        ...

    async def drop_readers(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Take back (a log, who reads it)."""
        ...

    async def clear(self, erasing: Commit) -> Cleared:
        """Delete what lies below the erasing commit, payloads and metadata included, markers apart. Nothing of another
        log that has begun behind it is touched, nor of any later one. For a while the deleted numbers stay taken.
        """
        ...

    async def bury(self, erasing: Commit) -> bool:
        """Delete all that is left of the thread, the erasing commit last. That one stays (False) if another log has
        begun behind it.
        """
        ...


@dataclass(frozen=True, slots=True)
class Removed:
    """The log is ended, and what it held is gone."""

    thread_id: str
    cleared: Cleared
    freed: tuple[str, ...] = ()
    """The logs that it read."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What keeps the thread, or of an ended log its content, and who."""

    thread_id: str
    reason: Reason
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Nothing:
    """There is no such thread, or no trace of it is left."""

    thread_id: str


Outcome = Removed | Kept | Nothing


async def children_of(store: KeepingStore, thread_id: str) -> tuple[str, ...]:
    """Ids of all children that the thread ever spawned, each once, in order."""
    found: dict[str, None] = {}
    async for commit in log_of(store, thread_id):
        found |= dict.fromkeys(spawned_by(commit))
    return tuple(found)


def spawned_by(commit: Commit) -> tuple[str, ...]:
    """Ids of the children that the commit spawns."""
    return tuple(sent.thread_id for sent in commit.outbox if isinstance(sent, SendSpawn))


async def log_of(store: KeepingStore, thread_id: str) -> AsyncIterator[Commit]:
    """The commits of the thread's log, oldest first; not those of one that was erased before it."""
    newest, number = await store.newest(thread_id), 1
    while newest is not None:
        page = await store.page(thread_id, number, PAGE)
        for commit in page.commits:
            if commit.birth == newest.birth:
                yield commit
        if not page.more or not page.commits:
            return
        number = page.commits[-1].number + 1
