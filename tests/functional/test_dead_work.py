"""Dead letters of workers and of the relay: calls are answered, timers passed on, unreadable bodies kept for people."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from core.delivery import INPUT
from core.ports import ParkedBody
from handlers import tool_worker
from handlers.dead_letters import handle
from infra.dynamodb import DynamoStore
from tests.functional.deployment import Deployment, Killed, event, killed_at, minutes_ms, redelivered
from tests.functional.worker_app import RUNS

NONE_FAILED: dict[str, Any] = {"batchItemFailures": []}
FAILED = {"batchItemFailures": [{"itemIdentifier": "059f36b4-87a3-44ab-83d2-661975830a7d"}]}


@pytest.fixture
def deployment(aws_endpoint: str) -> Iterator[Deployment]:
    RUNS.clear()
    deployment = Deployment(aws_endpoint)
    yield deployment
    deployment.close()


def dead(deployment: Deployment, happening: dict[str, Any]) -> dict[str, Any]:
    return handle(happening, deployment.dead_letters(), minutes_ms)


def dies(deployment: Deployment, where: str) -> None:
    with pytest.raises(Killed):
        tool_worker.handle(event("tool_call"), killed_at(deployment.worker(), where), minutes_ms)


def parked(deployment: Deployment) -> tuple[ParkedBody, ...]:
    container = deployment.dead_letters()
    store = container.agent.ports.store
    assert isinstance(store, DynamoStore)
    return container.agent.loop.run(store.parked())


def test_a_call_that_no_try_finished_is_answered_with_an_error(deployment: Deployment) -> None:
    dies(deployment, "before finish")
    deployment.clock.advance(120)
    assert dead(deployment, event("tool_call", arn="arn:worker")) == NONE_FAILED
    (answer,) = deployment.answers()
    assert answer["is_error"]
    assert answer["call_id"] == "call_aaaabbbbccccddddeeeeffffgg"


def test_a_call_whose_lease_still_runs_is_left_for_later(deployment: Deployment) -> None:
    dies(deployment, "before finish")
    assert dead(deployment, redelivered(event("tool_call", arn="arn:worker"))) == FAILED
    assert deployment.answers() == []


def test_a_result_that_was_recorded_but_not_sent_is_sent(deployment: Deployment) -> None:
    dies(deployment, "before send")
    assert dead(deployment, event("tool_call", arn="arn:worker")) == NONE_FAILED
    (answer,) = deployment.answers()
    assert answer["content"] == [{"type": "text", "text": "torpor for u1"}]


def test_a_worker_that_comes_back_after_its_dead_letter_sends_the_same_error(deployment: Deployment) -> None:
    dead(deployment, event("tool_call", arn="arn:worker"))
    assert tool_worker.handle(redelivered(event("tool_call")), deployment.worker(), minutes_ms) == NONE_FAILED
    assert RUNS == []
    assert [answer["is_error"] for answer in deployment.answers()] == [True]


def test_a_dead_cancellation_is_dropped(deployment: Deployment) -> None:
    assert dead(deployment, event("tool_cancel", arn="arn:worker")) == NONE_FAILED
    assert parked(deployment) == ()


def test_a_dead_timer_is_passed_on(deployment: Deployment) -> None:
    deployment.clock.advance(3_600)
    assert dead(deployment, event("timer", arn="arn:delay")) == NONE_FAILED
    assert [message["type"] for message in deployment.taken(INPUT)] == ["timer"]


def test_a_timer_that_its_schedule_could_not_send_is_passed_on(deployment: Deployment) -> None:
    deployment.clock.advance(3_600)
    (record,) = event("timer")["Records"]
    request = {"MessageBody": record["body"], "QueueUrl": deployment.environ["TORPOR_DELAY_QUEUE_URL"]}
    assert dead(deployment, event("timer", arn="arn:delay", body=json.dumps(request))) == NONE_FAILED
    (passed_on,) = deployment.taken(INPUT)
    del passed_on["sqs"]
    assert passed_on == json.loads(record["body"])


@pytest.mark.parametrize(("file", "source"), [("tool_call", "worker:research"), ("timer", "delay")])
def test_a_body_that_cannot_be_read_is_parked_for_people(
    deployment: Deployment, file: str, source: str
) -> None:
    arn = "arn:" + source.partition(":")[0]
    happening = event(file, arn=arn, body="{")
    assert dead(deployment, happening) == NONE_FAILED
    (body,) = parked(deployment)
    assert (body.source, body.body) == (source, "{")
    assert body.sender == happening["Records"][0]["attributes"]["SenderId"]
    assert body.message_id == happening["Records"][0]["messageId"]
    assert body.first_seen.isoformat() == "2025-01-01T00:00:00+00:00"


def test_a_queue_that_nobody_named_fails_its_records(deployment: Deployment) -> None:
    assert dead(deployment, event("tool_call", arn="arn:other")) == FAILED
