"""The `WorkRecords` contract for calls that ask a person, over DynamoDB and in memory."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ReadTimeoutError

from core.blocks import text_content
from core.errors import StoreUnavailable
from core.tools.asking import Answered
from core.work import (
    AlreadyRunning,
    Asking,
    Cancelled,
    Finished,
    Question,
    RecordedResult,
    Started,
    WorkRecords,
)
from infra.work.dynamodb import DynamoDbWorkRecords
from tests.contract.work_rigs import WatchedSync, dynamodb_records, records

NOW = datetime(2025, 1, 1, tzinfo=UTC)
UNTIL = NOW + timedelta(seconds=70)
FIRST = Question(call='{"name": "paint"}', id="q0", body='{"prompt": "?"}', number=0)
SECOND = Question(call='{"name": "paint"}', id="q1", body='{"prompt": "??"}', number=1)
RED, GREEN = Answered(choice="red"), Answered(choice="green", comment="like grass ä")
RESULT = RecordedResult(content=text_content("painted"))


@pytest.fixture(params=["memory", "dynamodb"])
def work(request: pytest.FixtureRequest) -> Iterator[WorkRecords]:
    with records(request.param, lambda: request.getfixturevalue("aws_endpoint")) as found:
        yield found


@pytest.fixture
def dynamodb(aws_endpoint: str) -> Iterator[tuple[DynamoDbWorkRecords, WatchedSync]]:
    with dynamodb_records(aws_endpoint) as found:
        yield found


def _begin(work: WorkRecords, attempt: str, now: datetime = NOW) -> object:
    return work.begin("c1", attempt=attempt, lease_until=now + timedelta(seconds=70), now=now)


def _answer(work: WorkRecords, answered: Answered, question_id: str | None = "q0") -> str | None:
    return work.answer("c1", answered, question_id=question_id, now=NOW)


def _asked(work: WorkRecords) -> WorkRecords:
    _begin(work, "a")
    assert work.ask("c1", FIRST, now=NOW) == Asking(FIRST.body)
    return work


def test_a_call_that_asks_is_run_by_nobody_and_asks_the_same_again(work: WorkRecords) -> None:
    _asked(work)
    assert _begin(work, "a") == Asking(FIRST.body)
    assert _begin(work, "b", UNTIL) == Asking(FIRST.body)
    other = Question(call="{}", id="q0", body="another", number=0)
    assert work.ask("c1", other, now=NOW) == Asking(FIRST.body), "the first question stands"


def test_its_answer_lets_it_be_begun_with_all_answers_so_far(work: WorkRecords) -> None:
    _asked(work)
    assert _answer(work, RED) == FIRST.call
    assert _begin(work, "b") == Started((RED,))
    assert _begin(work, "c") == AlreadyRunning(UNTIL)
    assert work.ask("c1", SECOND, now=NOW) == Asking(SECOND.body)
    assert _answer(work, GREEN, "q1") == SECOND.call
    assert _begin(work, "d") == Started((RED, GREEN))


def test_an_answer_that_comes_again_changes_nothing_and_lets_the_call_go_on(work: WorkRecords) -> None:
    _asked(work)
    _answer(work, RED)
    assert _answer(work, GREEN) == FIRST.call
    assert _begin(work, "b") == Started((RED,))
    work.ask("c1", SECOND, now=NOW)
    assert _answer(work, GREEN) == SECOND.call, "that of the first question answers no other"
    assert _begin(work, "c") == Asking(SECOND.body)
    work.finish("c1", RESULT, now=NOW)
    assert _answer(work, GREEN, "q1") == SECOND.call
    assert _begin(work, "d") == Finished(RESULT)


def test_an_answer_that_names_no_question_is_for_the_one_that_is_open(work: WorkRecords) -> None:
    assert _answer(work, RED, None) is None
    _asked(work)
    assert _answer(work, RED, None) == FIRST.call
    assert _answer(work, GREEN, None) == FIRST.call
    assert _begin(work, "b") == Started((RED,))


def test_an_answer_that_nobody_waits_for_is_dropped(work: WorkRecords) -> None:
    assert _answer(work, RED) is None
    _begin(work, "a")
    assert _answer(work, RED) is None
    work.ask("c1", FIRST, now=NOW)
    assert _answer(work, RED, "q7") is None
    work.cancel("c1", now=NOW)
    assert _answer(work, RED) is None
    assert _begin(work, "b") == Cancelled()


def test_a_run_that_knows_fewer_answers_than_there_are_asks_nothing(work: WorkRecords) -> None:
    _asked(work)
    _answer(work, RED)
    _begin(work, "b")
    assert work.ask("c1", FIRST, now=NOW) == AlreadyRunning(UNTIL)


def test_a_result_stands_whether_it_asks_or_not(work: WorkRecords) -> None:
    _asked(work)
    assert work.finish("c1", RESULT, now=NOW) == Finished(RESULT)
    assert work.ask("c1", FIRST, now=NOW) == Finished(RESULT)
    work.cancel("c2", now=NOW)
    assert work.ask("c2", FIRST, now=NOW) == Cancelled()


def test_a_call_and_a_question_as_large_as_a_message_are_kept_whole(work: WorkRecords) -> None:
    noise = hashlib.shake_256(b"3").hexdigest(400_000)
    large = Question(call=noise, id="q0", body=noise[::-1], number=0)
    assert work.ask("c1", large, now=NOW) == Asking(large.body)
    assert _answer(work, RED) == large.call


def test_a_lost_answer_of_the_store_changes_nothing(
    dynamodb: tuple[DynamoDbWorkRecords, WatchedSync],
) -> None:
    work, client = dynamodb
    timeout = ReadTimeoutError(endpoint_url="http://dynamodb")
    _begin(work, "a")
    for ask in (True, False):
        client.faults = [("update_item", timeout, True)]
        with pytest.raises(StoreUnavailable):
            work.ask("c1", FIRST, now=NOW) if ask else _answer(work, RED)
    assert _answer(work, GREEN) == FIRST.call
    assert _begin(work, "b") == Started((RED,))
