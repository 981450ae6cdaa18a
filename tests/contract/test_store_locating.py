"""Where an entry stands and who reads a log, over both stores: what spawns and forks are made of."""

import pytest

from core.entries import ToolCall
from core.thread import Ancestor, ForkPoint, Origin
from tests.contract.commits import THREAD, key, made, settle, turn, user, with_base
from tests.contract.lineages import CHILD, GRANDCHILD, compact, grow, located, spawn
from tests.contract.stores import Stores

LENGTHS = [1, 3, 0, 2, 1, 0, 0, 5, 1, 1, 2, 4, 0]
"""Entries per commit."""


async def test_every_entry_is_found_in_its_commit(stores: Stores) -> None:
    async with stores.open() as opened:
        first_seq, holding = 1, []
        for number, length in enumerate(LENGTHS, start=1):
            entries = [user(f"{number}.{index}") for index in range(length)]
            await opened.store.commit(made(number, entries, first_seq=first_seq))
            first_seq += length
            holding += [number] * length
        for seq, number in enumerate(holding, start=1):
            assert await opened.store.locate(THREAD, seq) == Ancestor(
                thread_id=THREAD, cutoff_seq=seq, first_commit=1, last_commit=number
            )
        for beyond in (0, -1, len(holding) + 1, 10**6):
            assert await opened.store.locate(THREAD, beyond) is None


async def test_what_nobody_wrote_is_not_found(stores: Stores) -> None:
    async with stores.open() as opened:
        assert await opened.store.locate("nobody", 1) is None
        await opened.store.commit(made(1))
        assert await opened.store.locate(THREAD, 1) is None


async def test_a_large_last_commit_is_looked_into(stores: Stores) -> None:
    async with stores.open() as opened:
        calls = [ToolCall(call_id=f"call_{n}", name="write", args={"text": "x" * 90_000}) for n in range(9)]
        await opened.store.commit(made(1, calls))
        assert (await located(opened.store, THREAD, 9)).last_commit == 1
        assert await opened.store.locate(THREAD, 10) is None


async def test_the_newest_summary_that_fits_is_where_reading_starts(stores: Stores) -> None:
    async with stores.open() as opened:
        log = await grow(opened.store, THREAD, 4)
        log.append(await compact(opened.store, log, up_to_seq=3))
        log.append(turn(6, first_seq=9, from_number=2))
        await settle(opened.store, log[-1])
        base = await compact(opened.store, log, up_to_seq=6)
        found = [await located(opened.store, THREAD, seq) for seq in (2, 3, 5, 6, 10)]
        assert [one.base for one in found] == [None, 5, 5, base.number, base.number]
        assert [one.first_commit for one in found] == [1, 2, 2, 4, 4]
        assert [one.last_commit for one in found] == [1, 2, 3, 3, 6]


async def test_an_entry_of_a_base_that_covers_it_is_read_from_before_the_base(stores: Stores) -> None:
    async with stores.open() as opened:
        log = await grow(opened.store, THREAD, 2)
        base = with_base(3, log, up_to_seq=6, from_number=4)
        ahead = base.model_copy(update={"entries": turn(3).entries})
        await settle(opened.store, ahead)
        assert await located(opened.store, THREAD, 5) == Ancestor(
            thread_id=THREAD, cutoff_seq=5, first_commit=1, last_commit=3
        )


async def test_a_base_counts_once_it_is_marked(stores: Stores) -> None:
    async with stores.open() as opened:
        log = await grow(opened.store, THREAD, 2)
        base = with_base(3, log, up_to_seq=2, from_number=2)
        await opened.store.commit(base)
        assert (await located(opened.store, THREAD, 4)).base is None
        await opened.store.mark(base)
        assert (await located(opened.store, THREAD, 4)).base == 3


async def test_each_log_that_a_child_reads_knows_it(stores: Stores) -> None:
    async with stores.open() as opened:
        await grow(opened.store, THREAD, 1)
        above = await located(opened.store, THREAD, 2)
        here = Ancestor(thread_id=CHILD, cutoff_seq=1, first_commit=1, last_commit=1)
        outbox = [spawn(GRANDCHILD, above, here), spawn(f"{THREAD}~empty")]
        commit = made(1, [user("go")], thread_id=CHILD, consumed=[key(1)], outbox=outbox)
        for _ in range(2):
            await opened.store.mark(commit)
        assert await opened.store.readers(THREAD) == (GRANDCHILD,)
        assert await opened.store.readers(CHILD) == (GRANDCHILD,)
        assert await opened.store.readers(GRANDCHILD) == ()


async def test_more_readers_than_one_request_takes(stores: Stores) -> None:
    async with stores.open() as opened:
        await grow(opened.store, THREAD, 1)
        ancestor = await located(opened.store, THREAD, 2)
        children = [f"{THREAD}~{number:02d}" for number in range(60)]
        outbox = [spawn(child, ancestor) for child in children]
        await settle(opened.store, turn(2, outbox=outbox))
        assert list(await opened.store.readers(THREAD)) == children
        assert set((await opened.store.load(THREAD, [key(2)])).markers) == {key(2)}


@pytest.mark.parametrize("forked", [True, False], ids=["a fork", "a child"])
async def test_a_fork_makes_itself_known_by_its_first_commit_a_child_does_not(
    stores: Stores, forked: bool
) -> None:
    async with stores.open() as opened:
        await grow(opened.store, THREAD, 1)
        lineage = (await located(opened.store, THREAD, 2),)
        point = ForkPoint(thread_id=THREAD, seq=2) if forked else None
        origin = Origin(lineage=lineage, forked_from=point)
        await settle(opened.store, made(1, thread_id="other", origin=origin))
        assert await opened.store.readers(THREAD) == (("other",) if forked else ())
