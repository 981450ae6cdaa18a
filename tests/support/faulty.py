"""A store in front of another that fails where a test says so: before a request, or after it took effect."""

from collections.abc import Sequence

from core.commit import Commit
from core.entries import Entry
from core.messages import InputKey
from core.ports import LoadedThread, ParkedBody, ThreadStore
from core.thread import Ancestor, Inherited, ThreadState


class Crash(Exception):
    """The invocation dies here."""


class FaultyStore:
    """Implements `core.ports.ThreadStore`. Each fault strikes once, by the name of the method."""

    def __init__(self, store: ThreadStore) -> None:
        self._store = store
        self.before: dict[str, Exception] = {}
        """Raised in place of the request."""
        self.after: dict[str, Exception] = {}
        """Raised when the request has taken effect."""

    async def load(self, thread_id: str, keys: Sequence[InputKey] = ()) -> LoadedThread:
        self._strike(self.before, "load")
        loaded = await self._store.load(thread_id, keys)
        self._strike(self.after, "load")
        return loaded

    async def commit(self, commit: Commit) -> None:
        self._strike(self.before, "commit")
        await self._store.commit(commit)
        self._strike(self.after, "commit")

    async def mark(self, commit: Commit) -> None:
        self._strike(self.before, "mark")
        await self._store.mark(commit)
        self._strike(self.after, "mark")

    async def settled(self, commit: Commit, *, waiting: bool) -> None:
        self._strike(self.before, "settled")
        await self._store.settled(commit, waiting=waiting)
        self._strike(self.after, "settled")

    async def locate(self, thread_id: str, seq: int) -> Ancestor | None:
        self._strike(self.before, "locate")
        return await self._store.locate(thread_id, seq)

    async def inherit(self, lineage: Sequence[Ancestor]) -> Inherited:
        self._strike(self.before, "inherit")
        return await self._store.inherit(lineage)

    async def state_at(self, thread_id: str, number: int) -> ThreadState:
        self._strike(self.before, "state_at")
        return await self._store.state_at(thread_id, number)

    async def park(self, parked: ParkedBody) -> None:
        self._strike(self.before, "park")
        await self._store.park(parked)

    async def entries(self, thread_id: str, after_seq: int = 0, limit: int = 1000) -> tuple[Entry, ...]:
        return await self._store.entries(thread_id, after_seq, limit)

    @staticmethod
    def _strike(faults: dict[str, Exception], method: str) -> None:
        if method in faults:
            raise faults.pop(method)
