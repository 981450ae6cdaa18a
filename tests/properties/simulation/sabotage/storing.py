"""Sabotages of the commit, the load and what counts as a duplicate."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import core.history.draft as draft
import core.history.manager as manager
from core.commit import Checkpoint, Commit, Consumed, commit_text
from core.entries import Entry
from core.errors import StoreUnavailable
from core.history.manager import HistoryManager
from core.messages import InputKey
from core.ports import LoadedThread, ThreadStore
from core.thread import ThreadState
from infra.memory import MemoryStore
from infra.memory.thread import Thread, Written
from tests.properties.simulation.ports import READ, HeldStore

from . import Patch, Sabotage


def _write(store: MemoryStore, commit: Commit) -> None:
    log = store._threads.setdefault(commit.thread_id, Thread()).log
    log[commit.number] = Written(commit_text(commit), commit.digest, commit.from_number)


def without_condition() -> Sequence[Patch]:
    async def commit(self: MemoryStore, commit: Commit) -> None:
        _write(self, commit)

    return [(MemoryStore, "commit", commit)]


def recognised_by_number() -> Sequence[Patch]:
    async def commit(self: MemoryStore, commit: Commit) -> None:
        if commit.number not in self._threads.setdefault(commit.thread_id, Thread()).log:
            _write(self, commit)

    return [(MemoryStore, "commit", commit)]


def number_from_a_cache() -> Sequence[Patch]:
    known: dict[tuple[int, str], LoadedThread] = {}
    load = MemoryStore.load

    async def cached(self: MemoryStore, thread_id: str, keys: Sequence[InputKey] = ()) -> LoadedThread:
        loaded = await load(self, thread_id, keys)
        first = known.setdefault((id(self), thread_id), loaded) if loaded.last else loaded
        return replace(loaded, folded=first.folded, last=first.last)

    return [(MemoryStore, "load", cached)]


def markers_before_the_newest_commit() -> Sequence[Patch]:
    async def load(self: HeldStore, thread_id: str, keys: Sequence[InputKey] = ()) -> LoadedThread:
        facts = await self.who.call("store.load facts", lambda: self.store.load(thread_id, keys), READ)
        commits = await self.who.call("store.load", lambda: self.store.load(thread_id), READ)
        loaded = replace(facts, folded=commits.folded, last=commits.last)
        self.watcher.loaded(self.who, thread_id, loaded.folded.state.number)
        return loaded

    return [(HeldStore, "load", load)]


def failed_read_is_empty() -> Sequence[Patch]:
    async def new_with_history(
        store: ThreadStore, thread_id: str, keys: Iterable[InputKey] = (), *, clock: object
    ) -> HistoryManager:
        try:
            loaded = await store.load(thread_id, list(keys))
        except StoreUnavailable:
            loaded = LoadedThread()
        return HistoryManager(store, thread_id, loaded, clock)  # type: ignore[arg-type]

    return [(HistoryManager, "new_with_history", new_with_history)]


def duplicates_by_marker_only() -> Sequence[Patch]:
    def seen(
        key: InputKey, pending: Iterable[Consumed], last: Commit | None, loaded: LoadedThread
    ) -> str | None:
        return loaded.markers.get(key)

    return [(manager, "seen_digest", seen)]


def duplicates_by_the_last_commit_only() -> Sequence[Patch]:
    def seen(
        key: InputKey, pending: Iterable[Consumed], last: Commit | None, loaded: LoadedThread
    ) -> str | None:
        taken = last.consumes(key) if last else None
        return taken.body_digest if taken else None

    return [(manager, "seen_digest", seen)]


def checkpoint_that_carries_less() -> Sequence[Patch]:
    def without_the_last(snapshot: ThreadState, carried: Sequence[Entry]) -> Checkpoint:
        return Checkpoint(snapshot=snapshot, carried=tuple(carried[:-1]))

    return [(draft, "Checkpoint", without_the_last)]


SABOTAGES = (
    Sabotage(
        "checkpoint that carries not all that is uncovered",
        checkpoint_that_carries_less,
        ["spawn_and_fork_across_checkpoints"],
    ),
    Sabotage("commit without the condition", without_condition, ["two_texts"], ["stall"], seeds=200),
    Sabotage("commit number taken from a cache without a check", number_from_a_cache, ["two_texts"]),
    Sabotage(
        "commit recognised by number instead of content", recognised_by_number, ["two_texts"], ["stall"], 200
    ),
    Sabotage(
        "markers read before the newest commit",
        markers_before_the_newest_commit,
        ["two_texts"],
        ["stall"],
        400,
    ),
    Sabotage("read failure taken as empty", failed_read_is_empty, ["inline_then_worker"], ["fail"]),
    Sabotage("duplicates looked up by marker only", duplicates_by_marker_only, ["text"]),
    Sabotage(
        "duplicates looked up by the last commit only", duplicates_by_the_last_commit_only, ["two_texts"]
    ),
)
