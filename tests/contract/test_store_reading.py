"""What people read: a thread's entries page by page, and parked bodies; over both stores."""

import pytest

from infra.aws_limits import item_bytes
from infra.dynamodb.keys import PARKED
from tests.contract.commits import THREAD, made, turn, user
from tests.contract.samples import body
from tests.contract.stores import DynamoStores, Stores

LENGTHS = [1, 3, 0, 2, 1, 0, 0, 5, 1, 1, 2, 4]
"""Entries per commit."""


@pytest.mark.parametrize("limit", [1, 2, 7, 100])
async def test_entries_come_in_order_page_by_page(stores: Stores, limit: int) -> None:
    async with stores.open() as opened:
        first_seq = 1
        for number, length in enumerate(LENGTHS, start=1):
            entries = [user(f"{number}.{index}") for index in range(length)]
            await opened.store.commit(made(number, entries, first_seq=first_seq))
            first_seq += length
        seen: list[int] = []
        while page := await opened.store.entries(THREAD, after_seq=len(seen), limit=limit):
            assert len(page) <= limit
            seen += [entry.seq for entry in page]
        assert seen == list(range(1, sum(LENGTHS) + 1))


async def test_entries_after_the_last_one_are_none(stores: Stores) -> None:
    async with stores.open() as opened:
        await opened.store.commit(turn(1))
        assert await opened.store.entries(THREAD, after_seq=2) == ()
        assert await opened.store.entries(THREAD, after_seq=100) == ()
        assert await opened.store.entries(THREAD, limit=0) == ()


async def test_entries_of_more_than_one_megabyte(stores: Stores) -> None:
    async with stores.open() as opened:
        for number in range(1, 31):
            blocks = [f"{number} {index} " + "x" * 9_000 for index in range(6)]
            await opened.store.commit(made(number, [user(*blocks)], first_seq=number))
        assert [entry.seq for entry in await opened.store.entries(THREAD)] == list(range(1, 31))


async def test_a_body_parks_once_however_often_it_comes(stores: Stores) -> None:
    async with stores.open() as opened:
        await opened.store.park(body())
        await opened.store.park(body())
        await opened.another().park(body(after_seconds=60, reason="given up"))
        assert await opened.store.parked() == (body(),)


async def test_parked_bodies_differ_by_source_message_id_and_body(stores: Stores) -> None:
    async with stores.open() as opened:
        bodies = [body(), body("m2"), body(text="other"), body(source="delay")]
        for parked in bodies:
            await opened.store.park(parked)
        assert {(one.source, one.message_id, one.body) for one in await opened.store.parked()} == {
            (one.source, one.message_id, one.body) for one in bodies
        }


async def test_parked_bodies_are_listed_by_time(stores: Stores) -> None:
    async with stores.open() as opened:
        bodies = [body(f"m{second}", after_seconds=second) for second in (3, 1, 2, 0)]
        for parked in bodies:
            await opened.store.park(parked)
        in_order = sorted(bodies, key=lambda parked: parked.first_seen)
        assert list(await opened.store.parked()) == in_order
        assert list(await opened.store.parked(limit=2)) == in_order[:2]
        assert await opened.store.parked(limit=0) == ()


@pytest.mark.parametrize(
    "text", ["", "x" * 1_000_000, "NUL \x00, lone \ud800, \ufffe, 😀"], ids=["empty", "1 MB", "uncarriable"]
)
async def test_any_body_parks(stores: Stores, text: str) -> None:
    async with stores.open() as opened:
        await opened.store.park(body(text=text))
        assert await opened.another().parked() == (body(text=text),)


async def test_parked_bodies_belong_to_no_thread(stores: Stores) -> None:
    async with stores.open() as opened:
        await opened.store.park(body())
        assert await opened.store.entries("PARKED") == ()
        assert (await opened.store.load("PARKED")).last is None


async def test_a_parked_body_of_any_size_takes_little_of_the_partition_that_all_share(
    dynamo: DynamoStores,
) -> None:
    async with dynamo.open() as opened:
        bodies = [body("small", "x" * 2_000), body("large", "y" * 60_000, after_seconds=1)]
        for parked in bodies:
            await opened.store.park(parked)
        items = [item for item in await opened.everything() if item["pk"]["S"] == PARKED]
        assert [item_bytes(item) < 4_500 for item in items] == [True] * 4
        assert list(await opened.store.parked()) == bodies
