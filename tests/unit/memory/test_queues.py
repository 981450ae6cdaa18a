"""The in-memory queues do what SQS does, by the clock alone: groups, ids, visibility, delays, dead letters."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from infra.memory import MemoryClock
from infra.memory.queues import MemoryQueues, QueueSettings, queue_arn
from infra.queue_errors import Unsendable

START = datetime(2025, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock() -> MemoryClock:
    return MemoryClock(START)


@pytest.fixture
def queues(clock: MemoryClock) -> MemoryQueues:
    queues = MemoryQueues(clock)
    queues.create("fifo-dead", QueueSettings(fifo=True))
    queues.create("fifo", QueueSettings(fifo=True, max_receive_count=2, dead_letters="fifo-dead"))
    queues.create("standard")
    return queues


def send(queues: MemoryQueues, *names: str, group: str = "g") -> None:
    for name in names:
        queues.send("fifo", name, group=group, dedup_id=name)


def bodies(records: list[dict[str, Any]]) -> list[str]:
    return [record["body"] for record in records]


def test_a_group_keeps_its_order_and_is_locked_while_a_message_is_in_flight(queues: MemoryQueues) -> None:
    send(queues, "a", "b", "c")
    send(queues, "other", group="h")
    (first,) = queues.receive("fifo")
    assert first["body"] == "a"
    assert bodies(queues.receive("fifo", 10)) == ["other"]
    queues.delete("fifo", first["receiptHandle"])
    assert bodies(queues.receive("fifo", 10)) == ["b", "c"]
    assert queues.receive("fifo", 10) == []


def test_after_the_visibility_timeout_a_group_comes_again_in_order(
    queues: MemoryQueues, clock: MemoryClock
) -> None:
    send(queues, "a", "b")
    queues.receive("fifo", 10)
    clock.advance(29)
    assert queues.receive("fifo", 10) == []
    clock.advance(1)
    again = queues.receive("fifo", 10)
    assert bodies(again) == ["a", "b"]
    assert [record["attributes"]["ApproximateReceiveCount"] for record in again] == ["2", "2"]


def test_an_id_is_remembered_for_five_minutes_even_after_its_message_is_gone(
    queues: MemoryQueues, clock: MemoryClock
) -> None:
    first_id = queues.send("fifo", "a", group="g", dedup_id="same")
    (record,) = queues.receive("fifo")
    queues.delete("fifo", record["receiptHandle"])
    clock.advance(299)
    assert queues.send("fifo", "b", group="h", dedup_id="same") == first_id
    assert queues.count("fifo") == 0
    clock.advance(1)
    assert queues.send("fifo", "c", group="g", dedup_id="same") != first_id
    assert queues.bodies("fifo") == ["c"]


def test_what_was_received_too_often_moves_to_the_dead_letters_and_frees_its_group(
    queues: MemoryQueues, clock: MemoryClock
) -> None:
    send(queues, "poison", "next")
    for _ in range(2):
        assert bodies(queues.receive("fifo")) == ["poison"]
        clock.advance(30)
    assert bodies(queues.receive("fifo")) == ["next"]
    (dead,) = queues.receive("fifo-dead")
    assert dead["body"] == "poison"
    assert dead["eventSourceARN"] == queue_arn("fifo-dead")
    assert dead["attributes"]["MessageGroupId"] == "g"


def test_a_standard_queue_delays_and_locks_nothing(queues: MemoryQueues, clock: MemoryClock) -> None:
    queues.send("standard", "later", delay_seconds=900)
    queues.send("standard", "now")
    assert queues.next_visible_at("standard") == START
    assert bodies(queues.receive("standard", 10)) == ["now"]
    assert queues.next_visible_at("standard") == START + timedelta(seconds=30)
    clock.advance(900)
    assert bodies(queues.receive("standard", 10)) == ["later", "now"]


def test_visibility_can_be_changed_and_an_old_receipt_does_nothing(
    queues: MemoryQueues, clock: MemoryClock
) -> None:
    queues.send("standard", "a")
    (first,) = queues.receive("standard")
    queues.change_visibility("standard", first["receiptHandle"], 5)
    clock.advance(5)
    (second,) = queues.receive("standard")
    assert second["receiptHandle"] != first["receiptHandle"]
    queues.delete("standard", first["receiptHandle"])
    assert queues.count("standard") == 1
    queues.delete("standard", second["receiptHandle"])
    queues.delete("standard", second["receiptHandle"])
    assert queues.count("standard") == 0
    assert queues.next_visible_at("standard") is None


def test_nothing_of_a_locked_group_counts_as_visible(queues: MemoryQueues) -> None:
    send(queues, "a", "b")
    queues.receive("fifo")
    assert queues.next_visible_at("fifo") == START + timedelta(seconds=30)


def test_a_record_has_the_shape_of_a_lambda_event(queues: MemoryQueues) -> None:
    message_id = queues.send("fifo", "a", group="g", dedup_id="d", sender="AIDAME")
    (record,) = queues.receive("fifo")
    assert record == {
        "messageId": message_id,
        "receiptHandle": record["receiptHandle"],
        "body": "a",
        "attributes": {
            "ApproximateReceiveCount": "1",
            "SentTimestamp": "1735689600000",
            "SenderId": "AIDAME",
            "ApproximateFirstReceiveTimestamp": "1735689600000",
            "SequenceNumber": "00000000000000000001",
            "MessageGroupId": "g",
            "MessageDeduplicationId": "d",
        },
        "messageAttributes": {},
        "md5OfBody": "0cc175b9c0f1b6a831c399e269772661",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:fifo",
        "awsRegion": "us-east-1",
    }


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("gone", {}),
        ("fifo", {}),
        ("fifo", {"group": "g"}),
        ("fifo", {"group": "g g", "dedup_id": "d"}),
        ("fifo", {"group": "g", "dedup_id": "d", "delay_seconds": 1}),
        ("standard", {"dedup_id": "d"}),
        ("standard", {"delay_seconds": 901}),
        ("standard", {"delay_seconds": -1}),
    ],
)
def test_what_sqs_refuses_is_refused(queues: MemoryQueues, name: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(Unsendable):
        queues.send(name, "a", **parameters)
