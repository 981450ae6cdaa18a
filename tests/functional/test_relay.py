"""The relay over real queues: early goes round again, due goes to the input queue, under the ids of its thread."""

from collections.abc import Iterator
from typing import Any

import pytest

from core.delivery import DELAY, INPUT
from handlers.timer_relay import handle
from tests.functional.deployment import Deployment, event

NONE_FAILED: dict[str, Any] = {"batchItemFailures": []}
FAILED = {"batchItemFailures": [{"itemIdentifier": "19dd0b57-b21e-4ac1-bd88-01bbb068cb78"}]}


@pytest.fixture
def deployment(aws_endpoint: str) -> Iterator[Deployment]:
    deployment = Deployment(aws_endpoint)
    yield deployment
    deployment.close()


def test_a_timer_that_is_not_due_goes_round_again_until_it_is(deployment: Deployment) -> None:
    relay, steps = deployment.relay(), 0
    while not (arrived := deployment.taken(INPUT)):
        assert handle(event("timer"), relay) == NONE_FAILED
        deployment.clock.advance(900)
        steps += 1
    assert steps == 5
    (timer,) = arrived
    assert timer["sqs"]["MessageGroupId"] == "t1"
    assert timer["sqs"]["MessageDeduplicationId"] == timer["message_id"] == "aaaabbbbccccddddeeeeffffgg"
    assert timer["due_at"] == "2025-01-01T01:00:00.000Z"


@pytest.mark.parametrize("left_seconds", [1, 899, 900, 3_000])
def test_the_next_delay_is_what_is_left_at_most_900_seconds(
    deployment: Deployment, left_seconds: int
) -> None:
    sent: list[dict[str, Any]] = []
    relay = deployment.relay()
    (sqs,) = relay.clients
    sqs.meta.events.register("provide-client-params.sqs.SendMessage", lambda params, **_: sent.append(params))
    deployment.clock.advance(3_600 - left_seconds)
    assert handle(event("timer"), relay) == NONE_FAILED
    (parameters,) = sent
    assert parameters["QueueUrl"] == deployment.environ["TORPOR_DELAY_QUEUE_URL"]
    assert parameters["DelaySeconds"] == min(900, left_seconds)
    assert parameters["MessageBody"] == event("timer")["Records"][0]["body"]


def test_a_wake_without_a_due_instant_is_due_at_once(deployment: Deployment) -> None:
    body = '{"type": "wake", "thread_id": "t1", "message_id": "m1"}'
    assert handle(event("timer", body=body), deployment.relay()) == NONE_FAILED
    assert [message["type"] for message in deployment.taken(INPUT)] == ["wake"]
    assert deployment.taken(DELAY) == []


@pytest.mark.parametrize(
    "body",
    [
        "{",
        '{"type": "timer", "thread_id": "t1"}',
        '{"type": "user_message", "thread_id": "t1", "content": "hello"}',
        '{"type": "wake", "thread_id": "t1", "message_id": "no blanks"}',
    ],
)
def test_what_does_not_travel_this_way_fails(deployment: Deployment, body: str) -> None:
    assert handle(event("timer", body=body), deployment.relay()) == FAILED
    assert deployment.taken(INPUT) == []


def test_a_queue_that_does_not_answer_fails_the_record(deployment: Deployment) -> None:
    deployment.environ["TORPOR_DELAY_QUEUE_URL"] += "-gone"
    assert handle(event("timer"), deployment.relay()) == FAILED
