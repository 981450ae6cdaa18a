"""Threads to erase, what is left of them, and ways to be interrupted."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any, cast

from core.entries import Entry
from core.history import HistoryManager
from core.keeping import Outcome, Removed
from core.thread import Origin
from tests.contract.commits import THREAD, settle, texts, turn, user, with_metadata
from tests.contract.stores import KeepsThreads, Opened, OpenedDynamo, OpenedMemory

RETENTION = timedelta(days=90)


async def conversation(opened: Opened, turns: int = 3) -> None:
    """A root of plain turns, with metadata."""
    for number in range(1, turns + 1):
        first = number == 1
        changes = with_metadata(1, user_id="u").changes if first else ()
        await settle(opened.keeper(), turn(number, changes=changes, origin=Origin() if first else None))


async def say(store: KeepsThreads, text: str, *, thread_id: str = THREAD, message_id: str = "") -> bool:
    """A user's text, committed and settled. False: it was a duplicate."""
    manager = await HistoryManager.new_with_history(store, thread_id, [message_id or text])
    taken = manager.handle_content(user(text), message_id or text)
    await manager.sync()
    return taken


async def history(store: KeepsThreads, thread_id: str = THREAD) -> list[str]:
    """What a model would be shown of the thread, and people too."""
    manager = await HistoryManager.new_with_history(store, thread_id)
    own: Sequence[Entry] = await store.entries(thread_id)
    assert [entry.seq for entry in own] == [entry.seq for entry in manager.draft.history]
    return texts(manager.history)


def removed(outcome: Outcome) -> int:
    """How many commits went; fails unless the thread was removed."""
    assert isinstance(outcome, Removed), outcome
    return outcome.cleared.commits


async def later(opened: Opened, **time: float) -> set[str]:
    """Let time pass and expire what has; the threads whose tip went."""
    opened.clock.advance(timedelta(**time).total_seconds())
    return await opened.expire()


async def traces(opened: Opened, thread_id: str = THREAD) -> set[str]:
    """What is left of a thread, stubs apart: kinds of rows."""
    match opened:
        case OpenedMemory(store=store):
            return store.traces(thread_id)
        case OpenedDynamo():
            items = [item for item in await opened.everything() if item["pk"]["S"] == f"T#{thread_id}"]
            kinds = {item["sk"]["S"].partition("#")[0] for item in items if "digest" in item or "n" in item}
            return kinds | {kind for item in items if (kind := item["sk"]["S"].partition("#")[0]) == "READER"}
        case _:
            raise AssertionError(opened)


class Interrupted(Exception):
    """The one who did it has died."""


class _At:
    """A store that does something at its `number`-th call, before or after it."""

    def __init__(
        self, store: Any, number: int, happens: Callable[[], Awaitable[None]], *, after: bool = False
    ):
        self._store = store
        self._number = number
        self._happens = happens
        self._after = after
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        async def call(*arguments: Any, **named: Any) -> Any:
            self.calls.append(name)
            now = len(self.calls) == self._number
            if now and not self._after:
                await self._happens()
            answer = await method(*arguments, **named)
            if now and self._after:
                await self._happens()
            return answer

        return call


async def dies() -> None:
    raise Interrupted


def at(
    store: KeepsThreads, number: int, happens: Callable[[], Awaitable[None]], *, after: bool = False
) -> tuple[KeepsThreads, list[str]]:
    """The store to which that happens, and its calls so far."""
    interrupted = _At(store, number, happens, after=after)
    return cast(KeepsThreads, interrupted), interrupted.calls
