"""The DynamoDB store when requests fail: asked again inside the time left, never taken for an answer (faults.md)."""

import pytest
from botocore.exceptions import EndpointConnectionError, ReadTimeoutError

from core.errors import LostRace, MisuseError, StoreUnavailable
from tests.contract.commits import THREAD, key, made, settle, turn, user, with_metadata
from tests.contract.samples import body
from tests.contract.stores import START, DynamoStores
from tests.contract.watched import fails, gets_half, hangs, is_cut_off, loses_the_answer, puts_half, refused

TIMEOUT = ReadTimeoutError(endpoint_url="http://table")
THROTTLED = refused("ProvisionedThroughputExceededException")
FAILURES = [
    pytest.param(TIMEOUT, id="timeout"),
    pytest.param(EndpointConnectionError(endpoint_url="http://table"), id="no connection"),
    pytest.param(refused("InternalServerError", 500), id="broken inside"),
    pytest.param(refused("SomethingNew", 503), id="unknown code, 503"),
    pytest.param(THROTTLED, id="throttled"),
]


@pytest.mark.parametrize("failure", FAILURES)
async def test_the_commit_times_out_but_was_applied_it_is_recognised_as_ours(
    dynamo: DynamoStores, failure: Exception
) -> None:
    async with dynamo.open() as opened:
        opened.dynamodb.next_time("put_item", loses_the_answer(failure))
        await opened.store.commit(turn(1))
        assert (await opened.another().load(THREAD)).last == turn(1)


@pytest.mark.parametrize("failure", FAILURES)
async def test_the_commit_did_not_arrive_it_is_sent_again(dynamo: DynamoStores, failure: Exception) -> None:
    async with dynamo.open() as opened:
        opened.dynamodb.next_time("put_item", fails(failure), fails(failure))
        await opened.store.commit(turn(1))
        assert (await opened.another().load(THREAD)).last == turn(1)


async def test_a_commit_of_unknown_outcome_can_still_lose(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        await opened.another().commit(turn(1, "theirs"))
        opened.dynamodb.next_time("put_item", fails(TIMEOUT))
        with pytest.raises(LostRace):
            await opened.store.commit(turn(1, "ours"))


async def test_a_commit_of_unknown_outcome_is_not_kept_warm(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        await opened.store.commit(turn(1))
        opened.deadline_seconds = 0.01
        opened.dynamodb.next_time("put_item", fails(TIMEOUT))
        with pytest.raises(StoreUnavailable):
            await opened.store.commit(turn(2, "ours"))
        opened.deadline_seconds = 10
        await opened.another().commit(turn(2, "theirs"))
        assert (await opened.store.load(THREAD)).last == turn(2, "theirs")


async def test_the_store_throttles_and_is_waited_out_inside_the_time_left(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        opened.dynamodb.next_time("put_item", *[fails(THROTTLED)] * 4)
        await opened.store.commit(turn(1))
        assert (opened.clock.now() - START).total_seconds() == pytest.approx(0.05 + 0.1 + 0.2 + 0.4)


async def test_the_store_throttles_beyond_the_time_left_which_is_a_retryable_failure(
    dynamo: DynamoStores,
) -> None:
    async with dynamo.open() as opened:
        opened.deadline_seconds = 0.5
        opened.dynamodb.next_time("put_item", *[fails(THROTTLED)] * 100)
        with pytest.raises(StoreUnavailable):
            await opened.store.commit(turn(1))
        assert (opened.clock.now() - START).total_seconds() < 0.5


async def test_tries_are_bounded_even_with_all_the_time_in_the_world(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        opened.deadline_seconds = float("inf")
        opened.dynamodb.next_time("put_item", *[fails(THROTTLED)] * 100)
        with pytest.raises(StoreUnavailable):
            await opened.store.commit(turn(1))
        assert len(opened.dynamodb.operations()) == 8


async def test_a_request_that_hangs_is_given_up_when_the_time_is(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        opened.deadline_seconds = 0.01
        opened.dynamodb.next_time("query", hangs)
        with pytest.raises(StoreUnavailable):
            await opened.store.load(THREAD)


@pytest.mark.parametrize("operation", ["query", "batch_get_item", "get_object"])
@pytest.mark.parametrize("code", ["ThrottlingException", "AccessDeniedException"])
async def test_a_read_fails_and_is_never_taken_as_empty(
    dynamo: DynamoStores, operation: str, code: str
) -> None:
    async with dynamo.open() as opened:
        await settle(opened.store, made(1, [user("x" * 100_000)], consumed=[key(1)]))
        client = opened.s3 if operation == "get_object" else opened.dynamodb
        opened.deadline_seconds = 1.0
        client.next_time(operation, *[fails(refused(code))] * 20)
        with pytest.raises(StoreUnavailable) as raised:
            await opened.another().load(THREAD, [key(1)])
        assert raised.value.__cause__ is not None


async def test_a_later_page_that_fails_fails_the_load(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        for number in range(1, 31):
            await opened.store.commit(turn(number))
        opened.dynamodb.next_time(
            "query", lambda send, request: send(**request), fails(refused("AccessDenied"))
        )
        with pytest.raises(StoreUnavailable):
            await opened.another().load(THREAD)


async def test_the_store_returns_part_of_a_batch_and_the_rest_is_asked_for_again(
    dynamo: DynamoStores,
) -> None:
    async with dynamo.open() as opened:
        keys = [key(number) for number in range(1, 9)]
        metadata = with_metadata(1, a=1).changes
        await settle(opened.store, made(1, [user("hi")], consumed=keys, changes=metadata))
        opened.dynamodb.next_time("batch_get_item", gets_half, gets_half, gets_half)
        loaded = await opened.another().load(THREAD, keys)
        assert set(loaded.markers) == set(keys)
        assert (loaded.tip, dict(loaded.metadata)) == (1, {"a": 1})


async def test_the_store_returns_part_of_a_batch_for_too_long_which_fails_the_load(
    dynamo: DynamoStores,
) -> None:
    async with dynamo.open() as opened:
        await settle(opened.store, turn(1))
        opened.deadline_seconds = 0.01
        opened.dynamodb.next_time("batch_get_item", gets_half)
        with pytest.raises(StoreUnavailable):
            await opened.another().load(THREAD, [key(1)])


async def test_markers_left_unprocessed_are_put_again(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        keys = [key(number) for number in range(1, 9)]
        opened.dynamodb.next_time("batch_write_item", puts_half, puts_half)
        await settle(opened.store, made(1, [user("hi")], consumed=keys))
        assert set((await opened.another().load(THREAD, keys)).markers) == set(keys)


@pytest.mark.parametrize("operation", ["batch_write_item", "update_item"])
async def test_a_mark_that_half_fails_is_not_confirmed(dynamo: DynamoStores, operation: str) -> None:
    async with dynamo.open() as opened:
        commit = with_metadata(1, a=1)
        await opened.store.commit(commit)
        opened.dynamodb.next_time(operation, fails(refused("AccessDeniedException")))
        with pytest.raises(StoreUnavailable):
            await opened.store.mark(commit)
        await opened.another().mark(commit)
        loaded = await opened.store.load(THREAD, [key(1)])
        assert (dict(loaded.metadata), set(loaded.markers)) == ({"a": 1}, {key(1)})


async def test_a_tip_that_moved_although_its_answer_was_lost(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        await opened.store.commit(turn(1))
        opened.dynamodb.next_time("update_item", loses_the_answer(TIMEOUT))
        await opened.store.settled(turn(1), waiting=False)
        assert (await opened.store.load(THREAD)).tip == 1


async def test_a_payload_that_is_cut_off_is_read_again(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        commit = turn(1, "x" * 100_000)
        await opened.store.commit(commit)
        opened.s3.next_time("get_object", is_cut_off, is_cut_off)
        assert (await opened.another().load(THREAD)).last == commit


async def test_a_payload_that_cannot_be_written_stops_the_commit(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        opened.s3.next_time("put_object", fails(refused("AccessDenied", 403)))
        with pytest.raises(StoreUnavailable):
            await opened.store.commit(turn(1, "x" * 100_000))
        assert "put_item" not in opened.dynamodb.operations()


async def test_a_request_that_can_never_succeed_is_not_repeated(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        opened.dynamodb.next_time("put_item", fails(refused("ValidationException")))
        with pytest.raises(MisuseError):
            await opened.store.commit(turn(1))
        assert opened.dynamodb.operations() == ["put_item"]


@pytest.mark.parametrize("writes_done", [0, 1])
async def test_a_body_whose_parking_was_cut_off_parks_once(dynamo: DynamoStores, writes_done: int) -> None:
    async with dynamo.open() as opened:
        passes = [lambda send, request: send(**request)] * writes_done
        opened.dynamodb.next_time("put_item", *passes, fails(refused("AccessDeniedException")))
        with pytest.raises(StoreUnavailable):
            await opened.store.park(body())
        await opened.store.park(body(after_seconds=60))
        (parked,) = await opened.store.parked()
        assert parked == body(after_seconds=60 * (1 - writes_done))
