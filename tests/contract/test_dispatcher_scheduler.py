"""What only EventBridge Scheduler can do to a dispatcher: its requests, its errors by code, a client opened late."""

import json
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import NoCredentialsError, ReadTimeoutError

from infra.scheduler.schedules import Schedules
from infra.sqs.dispatcher import SqsDispatcher
from tests.contract.dispatchers import START, SqsRigs, message, takes_back
from tests.contract.watched import Watched, fails, loses_the_answer, refused

TIMER = message("delay", "timer", "t1", due_at=START + timedelta(days=7))
TIMEOUT = ReadTimeoutError(endpoint_url="http://scheduler")


@pytest.fixture
def rigs(aws_endpoint: str) -> SqsRigs:
    return SqsRigs(aws_endpoint)


async def test_a_schedule_sends_once_to_the_delay_queue_or_its_dead_letters_and_deletes_itself(
    rigs: SqsRigs,
) -> None:
    async with rigs.open() as rig:
        assert await rig.dispatcher.send([TIMER, takes_back("old")]) == ()
        made, taken_back = rig.scheduler.requests
        assert made == {
            "operation": "create_schedule",
            "Name": "id-timer",
            "GroupName": rig.target.group,
            "ClientToken": "id-timer",
            "ScheduleExpression": "at(2025-01-07T23:58:00)",
            "ScheduleExpressionTimezone": "UTC",
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "ActionAfterCompletion": "DELETE",
            "Target": {
                "Arn": "arn:delay",
                "RoleArn": "arn:role",
                "Input": json.dumps({"name": "timer"}),
                "DeadLetterConfig": {"Arn": "arn:delay-dead"},
                "RetryPolicy": {"MaximumEventAgeInSeconds": 86_400, "MaximumRetryAttempts": 185},
            },
        }
        assert taken_back == {
            "operation": "delete_schedule",
            "Name": "id-old",
            "GroupName": rig.target.group,
            "ClientToken": "un-old",
        }


async def test_the_client_is_opened_for_the_first_schedule_and_not_before(rigs: SqsRigs) -> None:
    async with rigs.open() as rig:
        soon = message("delay", "soon", "t1", due_at=START + timedelta(seconds=900))
        assert await rig.dispatcher.send([soon, message("output", "out", "t1")]) == ()
        assert rig.scheduler.opened == 0
        assert await rig.dispatcher.send([TIMER]) == ()
        assert rig.scheduler.opened == 1


async def test_a_client_that_cannot_be_opened_leaves_the_schedule_for_later(rigs: SqsRigs) -> None:
    async def cannot() -> Any:
        raise NoCredentialsError

    async with rigs.open() as rig:
        schedules = Schedules(cannot, rig.target)
        dispatcher = SqsDispatcher(rig.client, rig.urls, rig.clock, lambda: 3.0, schedules)
        (unsent,) = await dispatcher.send([TIMER, message("input", "wake", "t1")])
        assert (unsent.message, unsent.permanent) == (TIMER, False)
        assert await rig.arrived("input") == ["wake"]


@pytest.mark.parametrize("failure", [TIMEOUT, OSError(), refused("ThrottlingException", 429)])
async def test_a_creation_of_unknown_outcome_is_asked_for_again_and_made_once(
    rigs: SqsRigs, failure: Exception
) -> None:
    async with rigs.open() as rig:
        watched = Watched(rig.scheduler)
        watched.next_time("create_schedule", loses_the_answer(failure), fails(failure))
        assert await rig.dispatcher_over(rig.client, watched).send([TIMER]) == ()
        first, *others = [call.request for call in watched.calls]
        assert others == [first, first]
        assert list(await rig.scheduled()) == ["id-timer"]


@pytest.mark.parametrize(
    ("code", "created", "deleted"),
    [
        ("ConflictException", "done", "later"),
        ("ResourceNotFoundException", "never", "done"),
        ("ValidationException", "never", "never"),
        ("AccessDeniedException", "never", "never"),
        ("ThrottlingException", "later", "later"),
        ("ServiceQuotaExceededException", "later", "later"),
        ("InternalServerException", "later", "later"),
        ("ExpiredTokenException", "later", "later"),
        ("SomethingNew", "later", "later"),
    ],
)
async def test_a_code_says_whether_it_is_done_or_can_ever_be(
    rigs: SqsRigs, code: str, created: str, deleted: str
) -> None:
    async with rigs.open() as rig:
        for outgoing, expected in ((TIMER, created), (takes_back("timer"), deleted)):
            watched = Watched(rig.scheduler)
            for operation in ("create_schedule", "delete_schedule"):
                watched.next_time(operation, *[fails(refused(code))] * 20)
            unsent = await rig.dispatcher_over(rig.client, watched, patience=4.0).send([outgoing])
            outcome = {None: "done", True: "never", False: "later"}[unsent[0].permanent if unsent else None]
            assert outcome == expected
            assert (len(watched.calls) == 1) is (expected != "later")
