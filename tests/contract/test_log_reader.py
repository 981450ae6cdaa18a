"""What clients read of logs, over both stores: pages, where an input was taken in, what was parked lately."""

import pytest

from core.commit import Commit
from tests.contract.commits import THREAD, key, made, settle, turn, user, with_base
from tests.contract.samples import body
from tests.contract.stores import DynamoStores, ReadableStore, Stores
from tests.contract.test_store_locating import LENGTHS


async def _grown(store: ReadableStore, number: int) -> list[Commit]:
    commits = [turn(one) for one in range(1, number + 1)]
    for commit in commits:
        await settle(store, commit)
    return commits


async def test_pages_hold_every_commit_once_and_in_order(stores: Stores) -> None:
    async with stores.open() as opened:
        commits = await _grown(opened.store, 7)
        for limit in (1, 3, 7, 100):
            read: list[Commit] = []
            more = True
            while more:
                page = await opened.another().page(THREAD, len(read) + 1, limit)
                assert len(page.commits) <= limit
                read += page.commits
                more = page.more
            assert read == commits
            assert [one.digest for one in read] == [one.digest for one in commits]


async def test_a_page_behind_the_last_commit_is_empty_and_the_last(stores: Stores) -> None:
    async with stores.open() as opened:
        await _grown(opened.store, 2)
        for thread_id, number in ((THREAD, 3), (THREAD, 1000), ("nobody", 1)):
            page = await opened.store.page(thread_id, number, 10)
            assert (page.commits, page.more) == ((), False)


async def test_a_page_of_large_commits_is_cut_and_says_so(stores: Stores) -> None:
    async with stores.open() as opened:
        commits = [
            made(
                number, [user(*[f"{number} {index} " + "x" * 60_000 for index in range(6)])], first_seq=number
            )
            for number in range(1, 6)
        ]
        for commit in commits:
            await opened.store.commit(commit)
        read = await opened.store.page(THREAD, 1, 100)
        seen = [*read.commits]
        while read.more:
            read = await opened.store.page(THREAD, len(seen) + 1, 100)
            seen += read.commits
        assert seen == commits


async def test_the_newest_commit_is_whole_and_need_not_be_settled(stores: Stores) -> None:
    async with stores.open() as opened:
        assert await opened.store.newest(THREAD) is None
        await _grown(opened.store, 3)
        unsettled = turn(4, "x" * 300_000)
        await opened.store.commit(unsettled)
        assert await opened.another().newest(THREAD) == unsettled


async def test_where_an_input_was_taken_in(stores: Stores) -> None:
    async with stores.open() as opened:
        await _grown(opened.store, 3)
        await opened.store.commit(turn(4))
        taken = [await opened.store.taken_in(THREAD, key(number)) for number in range(1, 6)]
        assert taken == [1, 2, 3, None, None], "a commit that is not settled has no markers"
        assert await opened.store.taken_in(THREAD, key(2, "close")) is None
        assert await opened.store.taken_in("nobody", key(2)) is None


async def test_a_summary_changes_nothing_of_what_is_read(stores: Stores) -> None:
    async with stores.open() as opened:
        commits = await _grown(opened.store, 4)
        commits.append(with_base(5, commits, up_to_seq=6, from_number=4))
        await settle(opened.store, commits[-1])
        page = await opened.store.page(THREAD, 1, 10)
        assert list(page.commits) == commits
        assert await opened.store.taken_in(THREAD, key(1)) == 1


async def test_the_commit_that_holds_an_entry(stores: Stores) -> None:
    async with stores.open() as opened:
        assert await opened.store.commit_holding(THREAD, 5) == 1
        first_seq, holding = 1, list[int]()
        for number, length in enumerate(LENGTHS, start=1):
            entries = [user(f"{number}.{index}") for index in range(length)]
            await opened.store.commit(made(number, entries, first_seq=first_seq))
            first_seq += length
            holding += [number] * length
        found = [await opened.store.commit_holding(THREAD, seq) for seq in range(1, len(holding) + 1)]
        assert found == holding
        assert await opened.store.commit_holding(THREAD, 10**6) == len(LENGTHS)


@pytest.mark.parametrize("limit", [1, 2, 5])
async def test_what_was_parked_lately_comes_newest_first(stores: Stores, limit: int) -> None:
    async with stores.open() as opened:
        bodies = [body(f"m{number}", after_seconds=number) for number in range(4)]
        for parked in bodies:
            await opened.store.park(parked)
        assert await opened.store.parked_lately(limit) == tuple(bodies[::-1][:limit])


async def test_each_is_one_request(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        await _grown(opened.store, 40)
        await opened.store.park(body())
        opened.dynamodb.operations()
        await opened.store.newest(THREAD)
        await opened.store.page(THREAD, 41, 16)
        await opened.store.page(THREAD, 1, 16)
        await opened.store.taken_in(THREAD, key(7))
        await opened.store.parked_lately(20)
        assert opened.dynamodb.operations() == ["query", "query", "query", "get_item", "query"]
        await opened.store.commit_holding(THREAD, 9)
        assert len(opened.dynamodb.operations()) <= 7, "a bisection of forty commits"
        assert opened.s3.operations() == []
