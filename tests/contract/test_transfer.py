"""Exports and imports, over both stores: the same threads elsewhere, and no half of them."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from core.changes import TimerArmed
from core.entries import ToolCall
from core.erasing import erase
from core.errors import MisuseError, UnreadableRecord
from core.fork import fork
from core.ids import digest
from core.importing import Lines, import_threads
from core.keeping import children_of
from core.outbox import SendTimer
from core.ports import ThreadStore
from core.transfer import Line, exported, read_line
from infra.memory import MemoryClock, MemoryStore
from tests.contract.commits import THREAD, made, settle, turn, user, with_metadata
from tests.contract.erasing import Interrupted, at, conversation, dies, history, later, removed, say
from tests.contract.lineages import CHILD, compact, grow, inheriting, located, spawn
from tests.contract.stores import START, KeepsThreads, MemoryStores, Opened, Stores

_CLOCK = MemoryClock(START)
WAITS = turn(1, changes=[TimerArmed(position=0, due_at=START)], outbox=[SendTimer(due_at=START)])


async def texts_of(store: KeepsThreads, thread_id: str = THREAD) -> list[str]:
    return [line async for line in exported(store, thread_id)]


def lines_of(texts: list[str]) -> Lines:
    def read() -> Iterator[Line]:
        return (read_line(text, number) for number, text in enumerate(texts, 1))

    return read


async def seen(store: ThreadStore, thread_id: str) -> Any:
    """Everything that a slice finds of a thread; markers that have expired apart."""
    loaded = await store.load(thread_id)
    return loaded, await store.entries(thread_id)


async def tree(opened: Opened) -> list[str]:
    """Two compacted turns, a child that inherits, an erased log below, large values; its thread ids."""
    store = opened.keeper()
    await conversation(opened, 1)
    removed(await erase(store, THREAD, opened.clock))
    await say(store, "first" + "x" * 70_000, message_id="first")
    await say(store, "second")
    own = await located(store, THREAD, 4)
    number = (await store.load(THREAD)).folded.state.number + 1
    birth = (await store.load(THREAD)).folded.state.birth
    last = made(number, [user("third")], first_seq=5, from_number=2, outbox=[spawn(CHILD, own)])
    await settle(store, last.model_copy(update={"birth": birth, "erased_seq": 2}))
    await settle(store, turn(1, thread_id=CHILD, origin=inheriting(own)))
    return [THREAD, CHILD]


async def test_importing_an_export_gives_the_same_histories(stores: Stores) -> None:
    async with stores.open() as source, stores.open() as target:
        ids = await tree(source)
        texts = await texts_of(source.keeper())
        threads = await import_threads(target.keeper(), lines_of(texts), target.clock)
        assert list(threads) == ids
        for thread_id in ids:
            assert await seen(target.keeper(), thread_id) == await seen(source.keeper(), thread_id)
        assert await texts_of(target.keeper()) == texts
        assert await target.keeper().readers(THREAD) == (CHILD,)
        assert await children_of(target.keeper(), THREAD) == (CHILD,)
        assert await say(target.keeper(), "and now")
        assert not await say(target.keeper(), "second"), "what was said there is said"


async def test_a_fork_is_exported_with_what_it_reads(stores: Stores) -> None:
    async with stores.open() as source, stores.open() as target:
        commits = await grow(source.keeper(), THREAD, 3)
        await compact(source.keeper(), commits, 4)
        await fork(source.keeper(), THREAD, 6, "fork", clock=source.clock)
        texts = await texts_of(source.keeper(), "fork")
        await import_threads(target.keeper(), lines_of(texts), target.clock)
        assert await history_of(target.keeper(), "fork") == await history_of(source.keeper(), "fork")


async def history_of(store: KeepsThreads, thread_id: str) -> Any:
    return (await store.load(thread_id)).inherited


async def test_an_import_that_is_interrupted_is_not_read_and_goes_on() -> None:
    stores = MemoryStores()
    async with stores.open() as source:
        await grow(source.keeper(), THREAD, 1)
        texts = await texts_of(source.keeper())
        whole = await seen(source.keeper(), THREAD)
    for number in range(1, 20):
        async with stores.open() as target:
            store, calls = at(target.keeper(), number, dies)
            with suppress(Interrupted):
                await import_threads(store, lines_of(texts), target.clock)
            if len(calls) < number:
                return
            if calls[-1] == "commit":
                with pytest.raises(UnreadableRecord):
                    await target.keeper().load(THREAD)
            await import_threads(target.keeper(), lines_of(texts), target.clock)
            assert await seen(target.keeper(), THREAD) == whole
            await import_threads(target.keeper(), lines_of(texts), target.clock)
            assert await seen(target.keeper(), THREAD) == whole


async def test_a_thread_that_exists_is_left_alone(stores: Stores) -> None:
    async with stores.open() as source, stores.open() as target:
        await grow(source.keeper(), THREAD, 2)
        texts = await texts_of(source.keeper())
        await say(target.keeper(), "mine")
        with pytest.raises(MisuseError, match="already"):
            await import_threads(target.keeper(), lines_of(texts), target.clock)
        assert await history(target.keeper()) == ["mine"]
        await say(source.keeper(), "gone on")
        with pytest.raises(MisuseError, match="already"):
            await import_threads(source.keeper(), lines_of(texts), target.clock)


async def test_who_begins_the_thread_in_the_midst_of_an_import_keeps_it(stores: Stores) -> None:
    async with stores.open() as source, stores.open() as target:
        await grow(source.keeper(), THREAD, 2)
        texts = await texts_of(source.keeper())

        async def mine() -> None:
            await settle(target.keeper(), turn(1, "mine"))

        store, _ = at(target.keeper(), 2, mine)
        with pytest.raises(MisuseError, match="somebody else"):
            await import_threads(store, lines_of(texts), target.clock)
        await say(target.keeper(), "more")
        assert (await history(target.keeper()))[-1] == "more"


async def test_what_is_imported_is_kept_as_if_it_were_new(stores: Stores) -> None:
    async with stores.open() as source, stores.open() as target:
        await grow(source.keeper(), THREAD, 1)
        texts = await texts_of(source.keeper())
        target.clock.advance(200 * 86_400)
        await import_threads(target.keeper(), lines_of(texts), target.clock)
        await settle(source.keeper(), turn(1, thread_id="waits", changes=WAITS.changes, outbox=WAITS.outbox))
        await import_threads(
            target.keeper(), lines_of(await texts_of(source.keeper(), "waits")), target.clock
        )
        assert await later(target, days=89) == set()
        assert await later(target, days=2) == {THREAD}, "and not what waits"


def _memory() -> MemoryStore:
    return MemoryStore(_CLOCK)


def _sealed(value: Any) -> Any:
    """A line whose sum is right again, as somebody who means harm would write it."""
    if isinstance(value, dict) and "commit" in value:
        return {**value, "sum": digest(value["commit"], value["digest"])}
    return value


Mangle = Callable[[list[Any]], object]


def changed(position: int, **fields: Any) -> Mangle:
    """A commit's record, changed."""
    return lambda values: values[position]["commit"].update(fields)


def counted(mangle: Mangle) -> Mangle:
    """The same, and the end says as many commits as there are then."""

    def mangled(values: list[Any]) -> None:
        mangle(values)
        values[-1].update(commits=len(values) - 2)

    return mangled


MANGLED: dict[str, Mangle] = {
    "cut off": lambda values: values.pop(),
    "fewer than it says": lambda values: values.pop(3),
    "without its first commit": counted(lambda values: values.pop(1)),
    "from its second commit on": counted(
        lambda values: [value["commit"].update({"from": 2}) for value in values[2:-1]] and values.pop(1)
    ),
    "with a gap": counted(lambda values: values.pop(2)),
    "more after the end": lambda values: values.append(values[1]),
    "a commit twice": counted(lambda values: values.insert(2, values[1])),
    "another format": lambda values: values[0].update(v=2),
    "not of the thread": lambda values: values[0].update(thread_id="other"),
    "another field": lambda values: values[1].update(more=1),
    "another digest": lambda values: values[1].update(digest="../../x"),
    "another number": changed(1, number=2),
    "no thread's id": changed(1, thread_id="T#../x"),
    "a newer version": changed(2, v=99),
    "half an entry": changed(2, entries=[{"kind": "user"}]),
    "of another log": changed(2, birth="another"),
    "readers begin nowhere": changed(2, **{"from": 7}),
    "what it edits is not there": changed(
        2, changes=[{"op": "state", "edits": [{"op": "set", "path": ["a", "b"], "value": 1}]}]
    ),
    "an unknown change": changed(2, changes=[{"op": "nonsense"}]),
    "seq with a gap": changed(2, first_seq=9),
    "no object": lambda values: values.__setitem__(1, "nonsense"),
    "a list": lambda values: values.__setitem__(1, [1]),
}


@pytest.mark.parametrize("mangle", MANGLED.values(), ids=MANGLED)
async def test_what_is_no_whole_export_is_refused_and_nothing_is_written(mangle: Mangle) -> None:
    source, target = _memory(), _memory()
    await grow(source, THREAD, 3, changes=with_metadata(1, user_id="u").changes, origin=inheriting())
    values = [json.loads(text) for text in await texts_of(source)]
    mangle(values)
    resealed = [json.dumps(_sealed(value)) for value in values]
    with pytest.raises(MisuseError):
        await import_threads(target, lines_of(resealed), _CLOCK)
    with pytest.raises(MisuseError):
        await import_threads(target, lines_of(["{", *resealed[1:]]), _CLOCK)
    assert target.traces(THREAD) == set()


async def test_a_line_that_was_changed_is_refused(stores: Stores) -> None:
    async with stores.open() as source:
        await settle(source.keeper(), made(1, [user("pay"), ToolCall(call_id="c", name="n", args={})]))
        texts = await texts_of(source.keeper())
        with pytest.raises(MisuseError, match="not as it was written"):
            await import_threads(
                source.keeper(), lines_of([texts[0], texts[1].replace("pay", "pry")]), source.clock
            )
        with pytest.raises(MisuseError, match="no thread"):
            await texts_of(source.keeper(), "nobody")
