"""Threads that sleep, on the local stack: woken at the very instant, by one schedule each, and by nothing else."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest

from infra.local import LocalTorpor
from infra.local.aws import Resources
from tests.functional.local_app import SPEC as WORKERS_SPEC
from tests.functional.sleeper import SPEC

pytestmark = pytest.mark.slow

START = datetime(2026, 3, 8, 12, 0, tzinfo=UTC)
WEEK_SECONDS = 7 * 86_400


@pytest.fixture
def local() -> Iterator[LocalTorpor]:
    with LocalTorpor(app=SPEC, start=START) as stack:
        yield stack


def _say(local: LocalTorpor, text: str, thread_id: str = "t1", **more: Any) -> None:
    local.send({"type": "user_message", "thread_id": thread_id, "content": text, **more})


def _woken(local: LocalTorpor) -> list[tuple[str, str]]:
    """Who woke up when, in order."""
    return [(one["thread_id"], one["created_at"]) for one in local.outputs() if one["text"] == "Awake."]


def _client(local: LocalTorpor, service: str) -> AbstractContextManager[Any]:
    return closing(
        boto3.client(
            service,
            endpoint_url=local.endpoint_url,
            region_name="us-east-1",
            aws_access_key_id="any",
            aws_secret_access_key="any",
        )
    )


def _resources(local: LocalTorpor) -> Resources:
    """The stack's own: the emulator's memory is the process's, other tests have some there too."""
    return local._system.resources


def _messages(local: LocalTorpor) -> int:
    """In all queues, delayed and in flight included."""
    total = 0
    with _client(local, "sqs") as client:
        for queue in _resources(local).queues.values():
            found = client.get_queue_attributes(QueueUrl=queue.url, AttributeNames=["All"])["Attributes"]
            total += sum(int(count) for name, count in found.items() if name.startswith("Approximate"))
    return total


def _rows(local: LocalTorpor) -> int:
    with _client(local, "dynamodb") as client:
        return sum(client.scan(TableName=name)["Count"] for name in _resources(local).tables.values())


def _schedules(local: LocalTorpor) -> list[dict[str, Any]]:
    """Those that are there, in the order of firing."""
    group = _resources(local).schedule_group
    with _client(local, "scheduler") as client:
        listed = client.list_schedules(GroupName=group)["Schedules"]
        found = [client.get_schedule(GroupName=group, Name=one["Name"]) for one in listed]
    return sorted(found, key=lambda one: str(one["ScheduleExpression"]))


def _timer(local: LocalTorpor) -> str:
    """The body of the one timer that is scheduled."""
    (schedule,) = _schedules(local)
    return str(schedule["Target"]["Input"])


def test_sleepers_wake_at_their_instants_to_the_second_in_order_however_far_off(local: LocalTorpor) -> None:
    texts = {
        "fold": "until 2026-10-25 02:30 Europe/Berlin",
        "hour": "sleep 3600",
        "week": f"sleep {WEEK_SECONDS}",
        "gap": "until 2026-03-29 02:30 Europe/Berlin",
        "quarter": "sleep 900.5",
        "minute": "sleep 60",
        "past": "until 2026-03-08 02:30 America/New_York",
    }
    for thread_id, text in texts.items():
        _say(local, text, thread_id)
    local.drain()
    assert _woken(local) == [("past", "2026-03-08T12:00:00.000Z")]
    assert [one["ScheduleExpression"] for one in _schedules(local)] == [
        "at(2026-03-08T12:13:00)",
        "at(2026-03-08T12:58:00)",
        "at(2026-03-15T11:58:00)",
        "at(2026-03-29T01:28:00)",
        "at(2026-10-25T00:28:00)",
    ]
    local.advance(seconds=WEEK_SECONDS)
    assert [thread_id for thread_id, _ in _woken(local)][-1] == "week"
    local.advance(seconds=300 * 86_400)
    assert _woken(local)[1:] == [
        ("minute", "2026-03-08T12:01:00.000Z"),
        ("quarter", "2026-03-08T12:15:01.000Z"),
        ("hour", "2026-03-08T13:00:00.000Z"),
        ("week", "2026-03-15T12:00:00.000Z"),
        ("gap", "2026-03-29T01:30:00.000Z"),
        ("fold", "2026-10-25T00:30:00.000Z"),
    ]
    assert _schedules(local) == local.parked() == []


def test_a_sleep_that_is_not_over_is_not_over(local: LocalTorpor) -> None:
    _say(local, "sleep 3600")
    local.drain()
    local.advance(seconds=3_599.999)
    assert _woken(local) == []
    local.advance(seconds=0.001)
    assert _woken(local) == [("t1", "2026-03-08T13:00:00.000Z")]


def test_the_timer_of_a_closed_thread_is_removed(local: LocalTorpor) -> None:
    _say(local, f"sleep {WEEK_SECONDS}")
    _say(local, f"sleep {WEEK_SECONDS}", "other")
    local.drain()
    assert len(_schedules(local)) == 2
    local.send({"type": "close", "thread_id": "t1"})
    local.drain()
    assert json.loads(_timer(local))["thread_id"] == "other"
    local.advance(seconds=WEEK_SECONDS)
    assert [thread_id for thread_id, _ in _woken(local)] == ["other"]


def test_a_timer_that_comes_early_and_twice_waits_for_its_time_and_wakes_once(local: LocalTorpor) -> None:
    _say(local, f"sleep {WEEK_SECONDS}")
    local.drain()
    timer = _timer(local)
    for _ in range(2):
        local.send(timer)
    local.drain()
    assert _timer(local) != timer
    local.advance(seconds=WEEK_SECONDS)
    assert _woken(local) == [("t1", "2026-03-15T12:00:00.000Z")]
    history = local.history("t1")
    local.send(timer)
    local.advance(seconds=WEEK_SECONDS)
    assert local.history("t1") == history
    assert local.parked() == []


def test_a_timer_that_comes_late_wakes_at_once(local: LocalTorpor) -> None:
    _say(local, "sleep 3600")
    local.drain()
    (schedule,) = _schedules(local)
    timer = schedule["Target"]["Input"]
    with _client(local, "scheduler") as client:
        client.delete_schedule(GroupName=schedule["GroupName"], Name=schedule["Name"])
    local.advance(seconds=86_400)
    assert _woken(local) == []
    local.send(timer)
    local.drain()
    assert _woken(local) == [("t1", "2026-03-09T12:00:00.000Z")]


def test_an_orphaned_timer_does_nothing(local: LocalTorpor) -> None:
    _say(local, f"sleep {WEEK_SECONDS}")
    _say(local, "no, stay awake")
    local.drain()
    timer = _timer(local)
    history, outputs = local.history("t1"), local.outputs()
    local.send(timer.replace('"t1"', '"nobody"'))
    local.advance(seconds=WEEK_SECONDS)
    assert (local.history("t1"), local.outputs()) == (history, outputs)
    assert local.history("nobody") == local.parked() == _schedules(local) == []


def test_a_deadline_is_a_schedule_that_does_nothing_once_the_call_is_answered() -> None:
    with LocalTorpor(app=WORKERS_SPEC, start=START) as local:
        _say(local, "two calls")
        local.drain()
        outputs = local.outputs()
        assert [one["ScheduleExpression"] for one in _schedules(local)] == ["at(2026-03-08T12:58:00)"]
        local.advance(seconds=86_400)
        assert local.outputs() == outputs
        assert _schedules(local) == []


def test_who_sleeps_is_three_rows_and_a_schedule_and_nothing_in_a_queue(local: LocalTorpor) -> None:
    rows, messages = _rows(local), _messages(local)  # what other tests of this process left in the emulator
    for number in range(10):
        _say(local, f"sleep {WEEK_SECONDS + number}", f"t{number}")
    local.drain()
    for _ in range(2):  # at the start, and an hour before the end
        assert (_rows(local) - rows, len(_schedules(local)), _messages(local) - messages) == (30, 10, 0)
        local.advance(seconds=(WEEK_SECONDS - 3_600) / 2)
    assert local.outputs() == []
    local.advance(seconds=3_600 + 10)
    assert [thread_id for thread_id, _ in _woken(local)] == [f"t{number}" for number in range(10)]
