"""Exports of trees that go on meanwhile, and files that nobody exported."""

import json
from functools import partial
from typing import Any

import pytest

from core.errors import MisuseError
from core.fork import fork
from core.importing import import_threads
from core.transfer import exported, read_line
from infra.memory import MemoryClock, MemoryStore
from tests.contract.commits import THREAD, settle, turn
from tests.contract.erasing import at, conversation
from tests.contract.lineages import CHILD, compact, grow, inheriting, located, spawn
from tests.contract.stores import START, MemoryStores, Opened
from tests.contract.test_transfer import lines_of


async def has_a_child(opened: Opened) -> None:
    """A third turn, and a child that inherits it."""
    store = opened.keeper()
    await settle(store, turn(3))
    own = await located(store, THREAD, 6)
    await settle(store, turn(4, outbox=[spawn(CHILD, own)]))
    await settle(store, turn(1, thread_id=CHILD, origin=inheriting(own)))


@pytest.mark.parametrize("number", range(1, 12))
async def test_an_export_of_a_tree_that_grows_meanwhile_can_be_imported(number: int) -> None:
    async with MemoryStores().open() as opened:
        await conversation(opened, 2)
        store, _ = at(opened.keeper(), number, partial(has_a_child, opened))
        texts = [line async for line in exported(store, THREAD)]
        target = MemoryStore(MemoryClock(START))
        threads = await import_threads(target, lines_of(texts), target._clock)
        for thread_id in threads:
            assert (await target.load(thread_id)).folded.state.exists


async def test_a_thread_that_is_exported_for_its_reader_and_for_itself_stands_there_once() -> None:
    async with MemoryStores().open() as opened:
        await conversation(opened, 2)
        await has_a_child(opened)
        await fork(opened.keeper(), CHILD, 2, "fork", clock=opened.clock)
        texts = [line async for line in exported(opened.keeper(), "fork")]
        target = MemoryStore(MemoryClock(START))
        assert set(await import_threads(target, lines_of(texts), target._clock)) == {THREAD, CHILD, "fork"}


@pytest.mark.parametrize("record", ['{"a":NaN}', '{"a":1e999}', '{"a":-Infinity}', '{"a":"\\ud800"}'])
def test_what_json_does_not_carry_is_no_line(record: str) -> None:
    with pytest.raises(MisuseError):
        read_line(f'{{"commit":{record},"digest":"x","sum":"y"}}', 1)


@pytest.mark.parametrize("lost", [4, 1], ids=["its base", "its first commit"])
async def test_what_a_fork_reads_of_another_log_must_be_whole(lost: int) -> None:
    async with MemoryStores().open() as opened:
        commits = await grow(opened.keeper(), THREAD, 3)
        base = await compact(opened.keeper(), commits, 4)
        await fork(opened.keeper(), THREAD, 6, "fork", clock=opened.clock)
        texts = [line async for line in exported(opened.keeper(), "fork")]
    values = [json.loads(text) for text in texts]
    kept = [value for value in values if not _is(value, number=lost)]
    assert (base.number, len(kept)) == (4, len(values) - 1)
    kept[-1]["commits"] -= 1
    target = MemoryStore(MemoryClock(START))
    with pytest.raises(MisuseError):
        await import_threads(target, lines_of([json.dumps(value) for value in kept]), target._clock)
    assert target.traces("fork") == set()


def _is(value: dict[str, Any], *, number: int) -> bool:
    record = value.get("commit", {})
    return (record.get("thread_id"), record.get("number")) == (THREAD, number)
