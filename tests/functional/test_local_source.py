"""The local stack's event source: order, locks, retries, dead letters and delays as Lambda and SQS have them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from core.delivery import DELAY, INPUT
from infra.local.aws import Resources, client
from infra.local.clock import LocalClock
from infra.local.emulator import Emulator
from infra.local.records import Facts
from infra.local.resources import MAX_RECEIVE_COUNT, queues
from infra.local.source import HOPELESS_RECEIVES, EventSource, LocalStackError

START = datetime(2026, 1, 1, tzinfo=UTC)
Answer = Callable[[list[dict[str, Any]]], list[str]]
"""From the records of an event to the ids of those that fail."""


@dataclass
class Rig:
    """Queues without functions: `seen` are the records that came, `answer` decides what becomes of them."""

    sqs: Any
    resources: Resources
    emulator: Emulator
    clock: LocalClock
    seen: list[dict[str, Any]] = field(default_factory=list)
    answer: Answer = lambda records: []

    def source(self, queue: str, batch_size: int = 1) -> EventSource:
        found = self.resources.queues[queue]
        source = EventSource(found, self.sqs, self.clock, self.emulator.arrivals, self.invoke, batch_size)
        self.emulator.gate.hold(found.sqs_name, source.change_visibility)
        return source

    def invoke(self, event: dict[str, Any]) -> tuple[Any, BaseException | None]:
        self.seen += event["Records"]
        failed = self.answer(event["Records"])
        return {"batchItemFailures": [{"itemIdentifier": one} for one in failed]}, None

    def send(self, queue: str, body: str, **parameters: Any) -> str:
        sent = self.sqs.send_message(
            QueueUrl=self.resources.queues[queue].url, MessageBody=body, **parameters
        )
        message_id: str = sent["MessageId"]
        return message_id

    def put(self, body: str, group: str = "g", **parameters: Any) -> str:
        return self.send(INPUT, body, MessageGroupId=group, MessageDeduplicationId=body, **parameters)

    @property
    def bodies(self) -> list[str]:
        return [record["body"] for record in self.seen]


@pytest.fixture
def rig() -> Iterator[Rig]:
    clock = LocalClock(START)
    emulator = Emulator(clock)
    clients = [client(service, emulator.endpoint_url) for service in ("sqs", "dynamodb", "s3", "scheduler")]
    resources = Resources("source", *clients)
    resources.create(queues({}), ())
    yield Rig(clients[0], resources, emulator, clock)
    resources.delete()
    for made in clients:
        made.close()
    emulator.close()


def _all_fail(records: list[dict[str, Any]]) -> list[str]:
    return [record["messageId"] for record in records]


def test_groups_keep_their_order_and_a_failure_blocks_only_its_group(rig: Rig) -> None:
    source = rig.source(INPUT, batch_size=10)
    for body in ("a1", "b1", "a2", "b2"):
        rig.put(body, group=body[0])
    rig.answer = lambda records: [r["messageId"] for r in records if r["body"].startswith("a")]
    assert source.step()
    assert not source.step()
    rig.put("a3", "a")
    rig.put("b3", "b")
    rig.answer = lambda records: []
    assert source.step()
    assert rig.bodies == ["a1", "b1", "a2", "b2", "b3"]
    rig.clock.advance(source.queue.visibility_timeout_seconds)
    while source.step():
        pass
    assert rig.bodies[5:] == ["a1", "a2", "a3"]
    numbers = [r["attributes"]["SequenceNumber"] for r in rig.seen if r["body"].startswith("a")]
    assert numbers[:2] == numbers[2:4]
    assert numbers[2:] == sorted(numbers[2:])


def test_a_retry_counts_has_another_receipt_and_comes_sooner_when_asked(rig: Rig) -> None:
    source = rig.source(INPUT)
    rig.put("one")
    rig.answer = _all_fail
    source.step()
    url, receipt = source.queue.url, rig.seen[0]["receiptHandle"]
    entry = {"Id": "0", "ReceiptHandle": receipt, "VisibilityTimeout": 2}
    assert rig.sqs.change_message_visibility_batch(QueueUrl=url, Entries=[entry])["Successful"]
    rig.clock.advance(2)
    assert source.step()
    first, second = rig.seen
    assert first["messageId"] == second["messageId"]
    assert first["receiptHandle"] != second["receiptHandle"]
    assert [r["attributes"]["ApproximateReceiveCount"] for r in rig.seen] == ["1", "2"]


def test_what_used_up_its_tries_is_a_dead_letter_as_it_was(rig: Rig) -> None:
    source, dead = rig.source(INPUT), rig.source(f"{INPUT}-dead")
    message_id = rig.put("one", MessageAttributes=Facts(sender="AROA:someone").attributes())
    rig.put("two")
    rig.answer = _all_fail
    for _ in range(MAX_RECEIVE_COUNT):
        assert source.step()
        rig.clock.advance(source.queue.visibility_timeout_seconds)
    rig.answer = lambda records: []
    assert source.step()
    assert dead.step()
    last, next_one, letter = rig.seen[-3:]
    assert (letter["messageId"], letter["body"], next_one["body"]) == (message_id, "one", "two")
    for kept in ("SenderId", "SentTimestamp", "MessageGroupId", "MessageDeduplicationId"):
        assert letter["attributes"][kept] == last["attributes"][kept]
    assert letter["attributes"]["SenderId"] == "AROA:someone"
    assert letter["eventSourceARN"].endswith("input-dead.fifo")
    assert letter["messageAttributes"] == {}


def test_a_dead_letter_that_fails_for_ever_is_told(rig: Rig) -> None:
    dead = rig.source(f"{DELAY}-dead")
    rig.send(f"{DELAY}-dead", "hopeless")
    rig.answer = _all_fail
    for _ in range(HOPELESS_RECEIVES):
        assert dead.step()
        rig.clock.advance(dead.queue.visibility_timeout_seconds)
    with pytest.raises(LocalStackError):
        dead.step()


def test_delays_go_by_the_local_clock(rig: Rig) -> None:
    source = rig.source(DELAY)
    rig.send(DELAY, "later", DelaySeconds=900)
    rig.send(DELAY, "sooner", DelaySeconds=60)
    assert not source.step()
    assert source.next_due_at() == START.replace(minute=1)
    rig.clock.advance(60)
    assert source.step()
    rig.clock.advance(839)
    assert not source.step()
    rig.clock.advance(1)
    assert source.step()
    assert rig.bodies == ["sooner", "later"]


def test_a_deduplication_id_is_remembered_for_five_minutes_in_its_group(rig: Rig) -> None:
    source = rig.source(INPUT)

    def put_again(group: str = "g") -> bool:
        rig.put("same", group)
        return source.step()

    assert put_again()
    assert not put_again()
    assert put_again("another group")
    rig.clock.advance(300)
    assert put_again()


def test_a_response_that_names_no_record_fails_them_all(rig: Rig) -> None:
    source = rig.source(INPUT, batch_size=2)
    rig.put("one")
    rig.put("two")
    rig.answer = lambda records: ["nobody"]
    source.step()
    assert source.awaits_retry()
    rig.clock.advance(source.queue.visibility_timeout_seconds)
    rig.answer = lambda records: []
    source.step()
    assert rig.bodies == ["one", "two", "one", "two"]
