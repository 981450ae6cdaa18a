"""What the DynamoDB store costs, by the formula of storage.md: requests, bytes, read and write units."""

import pytest

from core.commit import Commit
from core.entries import Assistant, Entry, ToolResult
from core.messages import InputKey
from core.ports import ThreadStore
from infra.aws_limits import item_bytes
from tests.contract.commits import THREAD, key, made, settle, turn, user, with_base, with_metadata
from tests.contract.samples import noise
from tests.contract.stores import DynamoStores, OpenedDynamo

TEXT_SLICE = ["query", "batch_get_item", "put_item", "batch_write_item", "update_item"]
"""Five of the six requests of a text slice; the sixth is the outbox's."""


def text_turn(number: int) -> Commit:
    """A turn of about 1 KB, the same size at any age of the thread."""
    question, answer = noise(480, f"q{number}"), noise(480, f"a{number}")
    entries: list[Entry] = [user(question), Assistant(text=answer)]
    return made(number, entries, first_seq=2 * number - 1, consumed=[key(number)])


async def text_slice(store: ThreadStore, number: int) -> None:
    """What a slice asks of the store for a text answered with a text."""
    await store.load(THREAD, [key(number)])
    await settle(store, text_turn(number))


async def grown(opened: OpenedDynamo, turns: int) -> None:
    await opened.seed([text_turn(number) for number in range(1, turns + 1)])
    await opened.store.load(THREAD)
    await opened.store.settled(text_turn(turns), waiting=False)
    opened.dynamodb.operations()


@pytest.mark.parametrize("turns", [5, 500], ids=["10 entries", "1,000 entries"])
async def test_a_warm_text_slice_makes_the_same_requests_at_any_age(dynamo: DynamoStores, turns: int) -> None:
    async with dynamo.open() as opened:
        await grown(opened, turns)
        await text_slice(opened.store, turns + 1)
        assert opened.dynamodb.read_units() <= 4
        assert opened.dynamodb.write_units() <= 4
        assert opened.dynamodb.operations() == TEXT_SLICE
        assert opened.s3.operations() == []


async def test_a_warm_slice_reads_at_most_4_units_for_commits_up_to_4_kb(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        commit = made(
            1, [user(noise(3_500))], consumed=[key(1)], changes=with_metadata(1, user_id="u").changes
        )
        await settle(opened.store, commit)
        size = item_bytes((await opened.items())["C#000000000001"])
        assert 3_500 < size <= 4_096
        opened.dynamodb.operations()
        await opened.store.load(THREAD, [key(2)])
        assert opened.dynamodb.read_units() == 4


async def test_a_cold_text_slice_of_up_to_16_commits_costs_no_more_requests(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        await grown(opened, 16)
        await text_slice(opened.another(), 17)
        assert opened.dynamodb.operations() == TEXT_SLICE


async def test_a_cold_load_past_16_commits_costs_one_request_per_megabyte_more(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        await grown(opened, 40)
        await opened.another().load(THREAD, [key(41)])
        assert sorted(opened.dynamodb.operations()) == ["batch_get_item", "query", "query"]
        more = [
            made(number, [user(noise(60_000, f"{number}"))], first_seq=40 + number)
            for number in range(41, 81)
        ]
        await opened.seed(more)
        sizes = [item_bytes(item) for sk, item in (await opened.items()).items() if sk.startswith("C#")]
        opened.dynamodb.operations()
        await opened.another().load(THREAD)
        assert opened.dynamodb.operations().count("query") <= 2 + sum(sizes) / 1_000_000


async def test_a_cold_load_reads_only_from_the_base_on(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        before = [turn(number) for number in range(1, 60)]
        for commit in (*before, with_base(60, before, up_to_seq=110, from_number=56)):
            await opened.store.commit(commit)
        opened.dynamodb.operations()
        await opened.another().load(THREAD)
        assert sorted(opened.dynamodb.operations()) == ["batch_get_item", "query"]


async def test_an_input_without_a_marker_is_marked_by_no_request(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        result = ToolResult(call_id="call_1", content=())
        await settle(opened.store, made(1, [result], consumed=[InputKey("tool_result", "m1")]))
        assert opened.dynamodb.operations() == ["put_item", "update_item"]


async def test_changed_metadata_costs_one_request_and_one_unit_more(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        await settle(opened.store, turn(1))
        plain = opened.dynamodb.write_units()
        assert sorted(opened.dynamodb.operations()) == ["batch_write_item", "put_item", "update_item"]
        await settle(opened.store, with_metadata(2, user_id="u"))
        assert opened.dynamodb.write_units() == plain + 1
        operations = ["batch_write_item", "put_item", "update_item", "update_item"]
        assert sorted(opened.dynamodb.operations()) == operations


async def test_turn_200_writes_what_turn_10_wrote(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        await grown(opened, 9)
        await text_slice(opened.store, 10)
        units_at_10 = opened.dynamodb.write_units()
        await opened.seed([text_turn(number) for number in range(11, 200)])
        opened.dynamodb.operations()
        await text_slice(opened.store, 200)
        assert opened.dynamodb.write_units() == pytest.approx(units_at_10, rel=0.1)
        items = await opened.items()
        sizes = [item_bytes(items[f"C#{number:012d}"]) for number in (10, 200)]
        assert sizes[1] == pytest.approx(sizes[0], rel=0.1)


async def test_a_commits_write_units_are_its_kilobytes(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        for number, kilobytes in enumerate((1, 5, 20), start=1):
            await opened.store.commit(made(number, [user(noise(1024 * kilobytes - 600))], first_seq=number))
            assert opened.dynamodb.write_units() <= kilobytes
            opened.dynamodb.operations()


async def test_reading_on_from_the_end_does_not_read_the_log(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        await grown(opened, 500)
        assert [entry.seq for entry in await opened.store.entries(THREAD, after_seq=998)] == [999, 1000]
        assert opened.dynamodb.operations() == ["query", "query"]
        assert [entry.seq for entry in await opened.store.entries(THREAD, after_seq=501, limit=2)] == [
            502,
            503,
        ]
        assert len(opened.dynamodb.operations()) <= 2 + 10
