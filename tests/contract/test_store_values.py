"""What a commit may hold comes back as it was, over both stores: large, odd, deep."""

from collections.abc import Sequence

import pytest

from core.changes import InputDeferred
from core.commit import commit_record
from core.entries import Entry
from core.ids import digest
from core.outbox import OutboxMessage
from core.thread import Deferred
from tests.contract.commits import THREAD, made, user
from tests.contract.samples import CALL, ODD, OUTBOXES, SIZES, noise
from tests.contract.stores import Opened, Stores


async def _same_after(opened: Opened, entries: Sequence[Entry]) -> None:
    commit = made(1, entries)
    await opened.store.commit(commit)
    for store in (opened.store, opened.another()):
        loaded = await store.load(THREAD)
        assert loaded.last == commit
        assert loaded.last.digest == commit.digest
        assert digest(commit_record(loaded.last)) == commit.digest
        assert loaded.folded.entries == commit.entries
        assert await store.entries(THREAD) == commit.entries


@pytest.mark.parametrize("entries", SIZES.values(), ids=SIZES)
async def test_large_values_come_back_whole(stores: Stores, entries: list[Entry]) -> None:
    async with stores.open() as opened:
        await _same_after(opened, entries)


@pytest.mark.parametrize("entries", ODD.values(), ids=ODD)
async def test_odd_values_come_back_the_same(stores: Stores, entries: list[Entry]) -> None:
    async with stores.open() as opened:
        await _same_after(opened, entries)


async def test_a_large_deferred_input_comes_back_whole(stores: Stores) -> None:
    async with stores.open() as opened:
        deferred = Deferred(entry=user(noise(200_000)), message_id="m1")
        commit = made(1, [CALL], changes=[InputDeferred(deferred=deferred)])
        await opened.store.commit(commit)
        assert (await opened.another().load(THREAD)).folded.state.deferred == (deferred,)


@pytest.mark.parametrize(
    "thread_id", ["..", ".", "a:b", "a.b-c_d", "x" * 100, "a~b", "x" * 100 + "~" + "y" * 27]
)
async def test_every_thread_id_keeps_large_values_apart(stores: Stores, thread_id: str) -> None:
    async with stores.open() as opened:
        commit = made(1, [user(noise(70_000, thread_id))], thread_id=thread_id)
        await opened.store.commit(commit)
        assert (await opened.another().load(thread_id)).last == commit


@pytest.mark.parametrize("outbox", OUTBOXES.values(), ids=OUTBOXES)
async def test_a_large_outbox_comes_back_whole(stores: Stores, outbox: list[OutboxMessage]) -> None:
    async with stores.open() as opened:
        commit = made(1, [CALL], outbox=outbox)
        await opened.store.commit(commit)
        for store in (opened.store, opened.another()):
            loaded = (await store.load(THREAD)).last
            assert loaded == commit
            assert digest(commit_record(loaded)) == commit.digest
