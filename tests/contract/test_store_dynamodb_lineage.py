"""What inheriting costs on DynamoDB: ancestors in parallel, each range once in a container's life, nothing skipped."""

import asyncio
from typing import Any

import pytest

from core.errors import StoreUnavailable, UnreadableRecord
from core.lineage import RangeRead
from core.thread import Ancestor
from infra.dynamodb.warm import KnownRange, WarmRanges
from tests.contract.commits import THREAD, key, settle, turn
from tests.contract.lineages import CHILD, GRANDCHILD, compact, grow, inheriting, located, spawn
from tests.contract.samples import noise
from tests.contract.stores import DynamoStores, OpenedDynamo
from tests.contract.watched import Fault, Send, fails, refused

LEVELS = (THREAD, CHILD, GRANDCHILD)
LAST, SIBLING = f"{THREAD}~last", f"{THREAD}~sibling"


async def tree(opened: OpenedDynamo) -> tuple[Ancestor, ...]:
    """Three levels of three turns each, and two children of the lowest that inherit the same."""
    lineage: list[Ancestor] = []
    for thread_id in LEVELS:
        await grow(opened.store, thread_id, 3, origin=inheriting(*lineage))
        lineage.append(await located(opened.store, thread_id, 4))
    for child in (LAST, SIBLING):
        await grow(opened.store, child, 1, origin=inheriting(*lineage))
    opened.dynamodb.operations()
    return tuple(lineage)


async def through(send: Send, request: dict[str, Any]) -> Any:
    return await send(**request)


def together(count: int) -> list[Fault]:
    """Requests that are answered only once all of them have been made."""
    barrier = asyncio.Barrier(count)

    async def fault(send: Send, request: dict[str, Any]) -> Any:
        async with asyncio.timeout(5), barrier:
            return await send(**request)

    return [fault] * count


async def test_a_cold_load_reads_all_ancestors_at_once_beside_the_facts(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        await tree(opened)
        *summaries, facts = together(4)
        opened.dynamodb.next_time("query", through, *summaries, *together(3))
        opened.dynamodb.next_time("batch_get_item", facts)
        loaded = await opened.another().load(LAST)
        assert len(loaded.inherited.entries) == 12
        assert sorted(opened.dynamodb.operations()) == ["batch_get_item", *["query"] * 7]


async def test_a_warm_container_reads_a_range_once_for_the_thread_and_its_siblings(
    dynamo: DynamoStores,
) -> None:
    async with dynamo.open() as opened:
        await tree(opened)
        store = opened.another()
        first = await store.load(LAST)
        opened.dynamodb.operations()
        again, sibling = await store.load(LAST), await store.load(SIBLING)
        assert again.inherited == sibling.inherited == first.inherited
        assert sorted(opened.dynamodb.operations()) == ["batch_get_item", "batch_get_item", "query", "query"]


async def test_a_deeper_thread_reads_only_what_its_container_has_not_read(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        await tree(opened)
        store = opened.another()
        await store.load(GRANDCHILD)
        opened.dynamodb.operations()
        assert len((await store.load(LAST)).inherited.entries) == 12
        assert sorted(opened.dynamodb.operations()) == ["batch_get_item", *["query"] * 3]


async def test_a_base_costs_one_read_if_it_is_not_in_the_range_and_saves_the_ancestors_above(
    dynamo: DynamoStores,
) -> None:
    async with dynamo.open() as opened:
        await tree(opened)
        log = [turn(n, f"{GRANDCHILD} {n}", thread_id=GRANDCHILD) for n in (1, 2, 3)]
        await compact(opened.store, log, up_to_seq=2)
        opened.dynamodb.operations()
        loaded = await opened.another().load(LAST)
        assert [entry.seq for entry in loaded.inherited.entries] == [3, 4]
        assert sorted(opened.dynamodb.operations()) == [*["batch_get_item"] * 2, *["query"] * 5]


async def test_nothing_is_read_that_a_later_base_covers(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        log = [turn(number) for number in range(1, 31)]
        await opened.seed(log)
        await grow(opened.store, CHILD, 1, origin=inheriting(await located(opened.store, THREAD, 60)))
        await compact(opened.store, log, up_to_seq=56)
        opened.dynamodb.operations()
        await opened.another().load(CHILD)
        read = [len(call.response["Items"]) for call in opened.dynamodb.calls if call.operation == "query"]
        assert read == [1, 1, 2]


async def test_a_warm_container_stays_with_the_base_it_has_read(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        log = await grow(opened.store, THREAD, 3)
        await grow(opened.store, CHILD, 1, origin=inheriting(await located(opened.store, THREAD, 6)))
        warm = await opened.store.load(CHILD)
        await compact(opened.store, log, up_to_seq=4)
        assert (await opened.store.load(CHILD)).inherited == warm.inherited
        assert [entry.seq for entry in (await opened.another().load(CHILD)).inherited.entries] == [5, 6]


async def test_a_range_of_more_than_one_megabyte_is_read_to_its_end(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        await opened.seed([turn(n, noise(60_000, f"{n}")) for n in range(1, 41)])
        await grow(opened.store, CHILD, 1, origin=inheriting(await located(opened.store, THREAD, 80)))
        opened.dynamodb.operations()
        assert len((await opened.another().load(CHILD)).inherited.entries) == 80
        assert opened.dynamodb.operations().count("query") == 2 + 2


@pytest.mark.parametrize("at", [1, 4], ids=["asking for a summary", "reading a range"])
async def test_a_failed_read_of_an_ancestor_fails_the_load_and_keeps_nothing(
    dynamo: DynamoStores, at: int
) -> None:
    async with dynamo.open() as opened:
        await tree(opened)
        store = opened.another()
        refuse = fails(refused("AccessDeniedException"))
        opened.dynamodb.next_time("query", *[through] * at, refuse)
        with pytest.raises(StoreUnavailable):
            await store.load(LAST)
        assert len((await store.load(LAST)).inherited.entries) == 12


async def test_a_base_that_is_gone_is_never_skipped(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        base = await compact(opened.store, await grow(opened.store, THREAD, 2), up_to_seq=4)
        ancestor = await located(opened.store, THREAD, 4)
        gone = {"pk": {"S": f"T#{THREAD}"}, "sk": {"S": f"C#{base.number:012d}"}}
        await opened.dynamodb.delete_item(TableName=opened.table, Key=gone)
        with pytest.raises(UnreadableRecord, match="base 3"):
            await opened.another().inherit([ancestor])


async def test_readers_are_written_with_the_markers(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        lineage = await tree(opened)
        commit = turn(4, thread_id=GRANDCHILD, outbox=[spawn(f"{THREAD}~new", *lineage)])
        await opened.store.mark(commit)
        assert opened.dynamodb.write_units() == 4
        assert opened.dynamodb.operations() == ["batch_write_item"]
        reader = (await opened.items())[f"READER#{THREAD}~new"]
        assert set(reader) == {"pk", "sk"}


async def test_finding_an_entry_reads_little_at_any_length(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        log = [turn(number) for number in range(1, 501)]
        await opened.seed(log)
        opened.dynamodb.operations()
        assert (await located(opened.store, THREAD, 501)).last_commit == 251
        operations = opened.dynamodb.operations()
        assert operations.count("query") == 2
        assert operations.count("get_item") <= 10
        await settle(opened.store, turn(501))
        assert (await opened.store.load(THREAD, [key(501)])).tip == 501


def test_what_no_bound_holds_is_not_kept() -> None:
    warm = WarmRanges(max_ranges=2, max_bytes=250)
    ancestors = [Ancestor(thread_id=THREAD, cutoff_seq=n, first_commit=1, last_commit=n) for n in range(4)]
    for ancestor in ancestors[:3]:
        warm.keep(ancestor, KnownRange(RangeRead(ancestor), 100))
    warm.keep(ancestors[3], KnownRange(RangeRead(ancestors[3]), 251))
    assert [warm.get(ancestor) is not None for ancestor in ancestors] == [False, True, True, False]
