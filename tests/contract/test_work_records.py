"""The `WorkRecords` contract, over DynamoDB and in memory, and what only DynamoDB can do to it."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ReadTimeoutError

from core.blocks import text_content
from core.errors import StoreUnavailable, UnreadableRecord
from core.sources import Source
from core.work import AlreadyRunning, Cancelled, Finished, RecordedResult, Started, WorkRecords
from infra.work.dynamodb import DynamoDbWorkRecords
from infra.work.encoding import PART_BYTES, decode, encode
from tests.contract.work_rigs import WatchedSync, dynamodb_records, records

NOW = datetime(2025, 1, 1, tzinfo=UTC)
UNTIL = NOW + timedelta(seconds=70)
RESULT = RecordedResult(
    content=text_content("found ä \U0001f600"),
    sources=(Source(url="https://example.org", title="E"),),
    state_patch={"seen": [1, 0.1, None]},
    subscription=True,
)
OTHER = RecordedResult(content=text_content("another"), is_error=True)


@pytest.fixture(params=["memory", "dynamodb"])
def work(request: pytest.FixtureRequest) -> Iterator[WorkRecords]:
    with records(request.param, lambda: request.getfixturevalue("aws_endpoint")) as found:
        yield found


@pytest.fixture
def dynamodb(aws_endpoint: str) -> Iterator[tuple[DynamoDbWorkRecords, WatchedSync]]:
    with dynamodb_records(aws_endpoint) as found:
        yield found


def test_one_attempt_runs_a_call_at_a_time(work: WorkRecords) -> None:
    assert work.begin("c1", attempt="a", lease_until=UNTIL, now=NOW) == Started()
    assert work.begin("c1", attempt="b", lease_until=UNTIL, now=NOW) == AlreadyRunning(UNTIL)
    assert work.begin("c2", attempt="b", lease_until=UNTIL, now=NOW) == Started()
    just_before = UNTIL - timedelta(milliseconds=1)
    assert work.begin("c1", attempt="b", lease_until=UNTIL, now=just_before) == AlreadyRunning(UNTIL)


def test_an_attempt_that_asks_again_still_has_the_call(work: WorkRecords) -> None:
    work.begin("c1", attempt="a", lease_until=UNTIL, now=NOW)
    assert work.begin("c1", attempt="a", lease_until=UNTIL, now=NOW) == Started()


def test_when_the_lease_is_over_the_next_attempt_runs(work: WorkRecords) -> None:
    work.begin("c1", attempt="a", lease_until=UNTIL, now=NOW)
    later = UNTIL + timedelta(seconds=70)
    assert work.begin("c1", attempt="b", lease_until=later, now=UNTIL) == Started()
    assert work.begin("c1", attempt="c", lease_until=later, now=UNTIL) == AlreadyRunning(later)


def test_the_first_result_stands(work: WorkRecords) -> None:
    work.begin("c1", attempt="a", lease_until=UNTIL, now=NOW)
    assert work.finish("c1", RESULT, now=NOW) == Finished(RESULT)
    assert work.finish("c1", OTHER, now=NOW) == Finished(RESULT)
    assert work.begin("c1", attempt="b", lease_until=UNTIL, now=UNTIL) == Finished(RESULT)
    assert work.finish("c2", OTHER, now=NOW) == Finished(OTHER)


def test_a_cancellation_stands_before_and_during_a_run_but_not_after_it(work: WorkRecords) -> None:
    work.cancel("before", now=NOW)
    work.cancel("before", now=NOW)
    assert work.begin("before", attempt="a", lease_until=UNTIL, now=NOW) == Cancelled()
    work.begin("during", attempt="a", lease_until=UNTIL, now=NOW)
    work.cancel("during", now=NOW)
    assert work.finish("during", RESULT, now=NOW) == Cancelled()
    work.finish("after", RESULT, now=NOW)
    work.cancel("after", now=NOW)
    assert work.begin("after", attempt="a", lease_until=UNTIL, now=NOW) == Finished(RESULT)


def test_a_result_as_large_as_a_message_is_kept_whole(work: WorkRecords) -> None:
    noise = hashlib.shake_256(b"1").hexdigest(524_000)
    large = RecordedResult(content=text_content(noise))
    assert len(encode(large).parts) > 1
    assert work.finish("c1", large, now=NOW) == Finished(large)
    assert work.finish("c1", OTHER, now=NOW) == Finished(large)


def test_a_lost_answer_changes_nothing(dynamodb: tuple[DynamoDbWorkRecords, WatchedSync]) -> None:
    work, client = dynamodb
    timeout = ReadTimeoutError(endpoint_url="http://dynamodb")
    client.faults = [("update_item", timeout, True)]
    with pytest.raises(StoreUnavailable):
        work.begin("c1", attempt="a", lease_until=UNTIL, now=NOW)
    assert work.begin("c1", attempt="a", lease_until=UNTIL, now=NOW) == Started()
    client.faults = [("update_item", timeout, True)]
    with pytest.raises(StoreUnavailable):
        work.finish("c1", RESULT, now=NOW)
    assert work.finish("c1", OTHER, now=NOW) == Finished(RESULT)


def test_a_record_expires_sixty_days_after_its_last_write(
    dynamodb: tuple[DynamoDbWorkRecords, WatchedSync],
) -> None:
    work, client = dynamodb
    work.finish("c1", RecordedResult(content=text_content("x" * 10)), now=NOW)
    item = client.get_item(TableName=work.table, Key={"pk": {"S": "c1"}})["Item"]
    assert int(item["expires_at"]["N"]) == (NOW + timedelta(days=60)).timestamp()


def test_parts_are_below_the_limit_of_an_item_and_damage_is_told() -> None:
    encoded = encode(RecordedResult(content=text_content(hashlib.shake_256(b"2").hexdigest(400_000))))
    assert max(map(len, encoded.parts)) <= PART_BYTES
    with pytest.raises(UnreadableRecord):
        decode(encoded.parts[0])
