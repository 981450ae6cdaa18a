"""The worker function over real queues and tables: answers, failures, deadlines, duplicates, and every death."""

from collections.abc import Iterator
from typing import Any

import pytest

from handlers.tool_worker import handle
from tests.functional.deployment import Deployment, Killed, event, killed_at, minutes_ms, redelivered
from tests.functional.worker_app import RUNS

CALL_ID = "call_aaaabbbbccccddddeeeeffffgg"
NONE_FAILED: dict[str, Any] = {"batchItemFailures": []}
FAILED = {"batchItemFailures": [{"itemIdentifier": "059f36b4-87a3-44ab-83d2-661975830a7d"}]}


@pytest.fixture
def deployment(aws_endpoint: str) -> Iterator[Deployment]:
    RUNS.clear()
    deployment = Deployment(aws_endpoint)
    yield deployment
    deployment.close()


def run(deployment: Deployment, happening: dict[str, Any]) -> dict[str, Any]:
    """Each time in a fresh process."""
    return handle(happening, deployment.worker(), minutes_ms)


def text_of(answer: dict[str, Any]) -> str:
    (block,) = answer["content"]
    return str(block["text"])


def test_a_call_is_run_and_answered_on_the_input_queue(deployment: Deployment) -> None:
    assert run(deployment, event("tool_call")) == NONE_FAILED
    (answer,) = deployment.answers()
    assert answer["sqs"]["MessageGroupId"] == "t1"
    del answer["sqs"], answer["message_id"]
    assert answer == {
        "v": 1,
        "type": "tool_result",
        "thread_id": "t1",
        "call_id": CALL_ID,
        "content": [{"type": "text", "text": "torpor for u1"}],
        "is_error": False,
        "subscription": False,
        "sources": [{"url": "https://example.org/torpor", "title": "torpor", "snippet": ""}],
        "state_patch": {"last": "torpor"},
    }


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "fail", "args": {}}, "no such word"),
        ({"name": "hang", "args": {}}, "0.01 s"),
        ({"args": {"word": 1}}, "word"),
        ({"args": {}}, "word"),
        ({"name": "gone"}, "gone"),
        ({"deadline": "2025-01-01T00:00:00.000Z"}, "deadline"),
    ],
    ids=["raises", "hangs", "bad argument", "missing argument", "unknown tool", "after the deadline"],
)
def test_a_call_that_cannot_succeed_is_answered_with_an_error(
    deployment: Deployment, changes: dict[str, Any], said: str
) -> None:
    assert run(deployment, event("tool_call", **changes)) == NONE_FAILED
    (answer,) = deployment.answers()
    assert answer["is_error"]
    assert said in text_of(answer)
    assert RUNS == []


def test_a_result_larger_than_a_message_arrives_cut(deployment: Deployment) -> None:
    assert run(deployment, event("tool_call", name="shout", args={"text": "loud noise "})) == NONE_FAILED
    (answer,) = deployment.answers()
    assert len(answer["content"]) == 2
    assert len(answer["content"][0]["text"]) > 1_000_000


@pytest.mark.parametrize(
    "where", ["before begin", "after begin", "before finish", "after finish", "before send", "after send"]
)
def test_a_worker_dies_before_during_or_after_running_the_tool_and_one_result_reaches_the_queue(
    deployment: Deployment, where: str
) -> None:
    first = event("tool_call")
    with pytest.raises(Killed):
        handle(first, killed_at(deployment.worker(), where), minutes_ms)
    deployment.clock.advance(120)
    assert run(deployment, redelivered(first)) == NONE_FAILED
    (answer,) = deployment.answers()
    assert text_of(answer) == "torpor for u1"
    assert len(RUNS) == (2 if where == "before finish" else 1)


def test_a_call_that_another_worker_runs_is_left_until_its_lease_is_over(deployment: Deployment) -> None:
    first = event("tool_call")
    with pytest.raises(Killed):
        handle(first, killed_at(deployment.worker(), "after begin"), minutes_ms)
    assert run(deployment, redelivered(first)) == FAILED
    assert deployment.answers() == []
    deployment.clock.advance(70)
    assert run(deployment, redelivered(redelivered(first))) == NONE_FAILED
    assert len(deployment.answers()) == 1


def test_a_call_delivered_twice_runs_once_and_is_acknowledged(deployment: Deployment) -> None:
    assert run(deployment, event("tool_call")) == NONE_FAILED
    assert run(deployment, redelivered(event("tool_call"))) == NONE_FAILED
    assert RUNS == [CALL_ID]
    assert [text_of(answer) for answer in deployment.answers()] == ["torpor for u1"]


def test_a_cancellation_that_comes_before_its_call_keeps_it_from_running(deployment: Deployment) -> None:
    assert run(deployment, event("tool_cancel")) == NONE_FAILED
    assert run(deployment, event("tool_call")) == NONE_FAILED
    assert RUNS == []
    assert deployment.answers() == []


def test_a_cancellation_during_the_run_leaves_the_call_unanswered(deployment: Deployment) -> None:
    first = event("tool_call")
    with pytest.raises(Killed):
        handle(first, killed_at(deployment.worker(), "before finish"), minutes_ms)
    run(deployment, event("tool_cancel"))
    deployment.clock.advance(120)
    assert run(deployment, redelivered(first)) == NONE_FAILED
    assert deployment.answers() == []


@pytest.mark.parametrize(
    "body", ["{", "[]", '{"type": "tool_call"}', '{"type": "other"}', '{"a": "\\ud800"}']
)
def test_a_body_that_is_no_work_fails_and_harms_no_other_record(deployment: Deployment, body: str) -> None:
    batch = {"Records": event("tool_call", body=body)["Records"] + event("tool_cancel")["Records"]}
    assert run(deployment, batch) == FAILED


def test_without_time_left_nothing_is_started(deployment: Deployment) -> None:
    assert handle(event("tool_call"), deployment.worker(), lambda: 2_000.0) == FAILED
    assert RUNS == []
    assert run(deployment, redelivered(event("tool_call"))) == NONE_FAILED
