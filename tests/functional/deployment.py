"""What a deployment has of queues and tables, on the emulator, and the functions' containers over it."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import boto3

from core.delivery import INPUT
from core.ports import Outgoing
from core.tools.asking import Answered
from core.work import Asked, Begun, Ended, Question, RecordedResult, WorkRecords
from core.worker import Answering, Sender
from handlers.agent_container import DeadLetterContainer, build_dead_letter_container
from handlers.bootstrap import RelayContainer, WorkerContainer, build_relay_container, build_worker_container
from infra.memory import MemoryClock

START = datetime(2025, 1, 1, tzinfo=UTC)
EVENTS = Path(__file__).parents[1] / "events"
_NUMBERS = count(1)


def event(file: str, /, **changes: Any) -> dict[str, Any]:
    """An event file; `changes` are fields of its records' JSON bodies, or `body` or `arn` for the whole."""
    loaded: dict[str, Any] = json.loads((EVENTS / f"{file}.json").read_text())
    arn, body = changes.pop("arn", None), changes.pop("body", None)
    for record in loaded["Records"]:
        if changes:
            record["body"] = json.dumps(json.loads(record["body"]) | changes)
        record["body"] = body if body is not None else record["body"]
        record["eventSourceARN"] = arn or record["eventSourceARN"]
    return loaded


def redelivered(earlier: dict[str, Any]) -> dict[str, Any]:
    """The same messages, received once more."""
    records = []
    for record in earlier["Records"]:
        received = int(record["attributes"]["ApproximateReceiveCount"]) + 1
        attributes = record["attributes"] | {"ApproximateReceiveCount": str(received)}
        records.append(record | {"receiptHandle": f"receipt-{received}", "attributes": attributes})
    return {"Records": records}


def minutes_ms() -> float:
    """The time left of an invocation that has just begun."""
    return 300_000.0


@dataclass
class Deployment:
    """Everything by names of its own, so that tests do not meet."""

    endpoint: str
    clock: MemoryClock = field(default_factory=lambda: MemoryClock(START))
    environ: dict[str, str] = field(default_factory=dict)
    closing: list[Callable[[], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        number = f"functional-{next(_NUMBERS)}"
        self.sqs, self.dynamodb, self.s3 = (self._client(name) for name in ("sqs", "dynamodb", "s3"))
        queues = {name: self._queue(f"{name}-{number}") for name in ("input.fifo", "output.fifo", "delay")}
        self.environ = {
            "AWS_REGION": "us-east-1",
            "TORPOR_APP": "tests.functional.worker_app:app",
            "TORPOR_WORKER": "research",
            "TORPOR_WORKER_QUEUES": json.dumps({"research": self._queue(f"research-{number}")}),
            "TORPOR_INPUT_QUEUE_URL": queues["input.fifo"],
            "TORPOR_OUTPUT_QUEUE_URL": queues["output.fifo"],
            "TORPOR_DELAY_QUEUE_URL": queues["delay"],
            "TORPOR_DELAY_QUEUE_ARN": "arn:delay-queue",
            "TORPOR_DELAY_DEAD_LETTERS_ARN": "arn:delay",
            "TORPOR_SCHEDULE_GROUP": "default",
            "TORPOR_SCHEDULE_ROLE_ARN": "arn:schedules",
            "TORPOR_TABLE": self._table(f"threads-{number}", "pk", "sk"),
            "TORPOR_WORK_TABLE": self._table(f"work-{number}", "pk"),
            "TORPOR_BUCKET": f"payloads-{number}",
            "TORPOR_SENDER_CHECK": "off",
            "TORPOR_DEAD_LETTER_QUEUES": json.dumps({"arn:worker": "worker:research", "arn:delay": "delay"}),
        }
        self.s3.create_bucket(Bucket=f"payloads-{number}")

    def worker(self) -> WorkerContainer:
        """A fresh process."""
        container = build_worker_container(self.environ, self.clock, self.endpoint)
        self.closing.append(container.close)
        return container

    def relay(self) -> RelayContainer:
        container = build_relay_container(self.environ, self.clock, self.endpoint)
        self.closing.append(container.close)
        return container

    def dead_letters(self) -> DeadLetterContainer:
        container = build_dead_letter_container(self.environ, self.clock, self.endpoint)
        self.closing.append(container.close)
        return container

    def taken(self, queue: str) -> list[dict[str, Any]]:
        """What is in the `INPUT` or `DELAY` queue: bodies, with the attributes of the message under `sqs`."""
        url = self.environ[f"TORPOR_{queue.upper()}_QUEUE_URL"]
        found: list[dict[str, Any]] = []
        while messages := self._receive(url):
            found += [json.loads(message["Body"]) | {"sqs": message["Attributes"]} for message in messages]
        return found

    def answers(self) -> list[dict[str, Any]]:
        """The tool results on the input queue."""
        return self.taken(INPUT)

    def close(self) -> None:
        for close in self.closing:
            close()

    def _receive(self, url: str) -> list[Any]:
        answer = self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, AttributeNames=["All"])
        messages: list[Any] = answer.get("Messages", [])
        for message in messages:
            self.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return messages

    def _client(self, service: str) -> Any:
        client = boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        self.closing.append(client.close)
        return client

    def _queue(self, name: str) -> str:
        fifo = name.startswith(("input", "output"))
        base = name.replace(".fifo", "")
        created = self.sqs.create_queue(
            QueueName=f"{base}.fifo" if fifo else base, Attributes={"FifoQueue": "true"} if fifo else {}
        )
        url: str = created["QueueUrl"]
        return url

    def _table(self, name: str, *keys: str) -> str:
        kinds = ("HASH", "RANGE")
        self.dynamodb.create_table(
            TableName=name,
            KeySchema=[
                {"AttributeName": key, "KeyType": kind} for key, kind in zip(keys, kinds, strict=False)
            ],
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
            BillingMode="PAY_PER_REQUEST",
        )
        return name


class Killed(BaseException):
    """The process is gone: nothing after this runs, not even the boundary of the batch."""


@dataclass(frozen=True)
class Killer:
    """Records and sender that die before or after one of their operations."""

    records: WorkRecords
    sender: Sender
    where: str
    """`before begin`, `after finish`, `before send` …"""

    def begin(self, call_id: str, *, attempt: str, lease_until: datetime, now: datetime) -> Begun:
        self._maybe("before begin")
        begun = self.records.begin(call_id, attempt=attempt, lease_until=lease_until, now=now)
        self._maybe("after begin")
        return begun

    def finish(self, call_id: str, result: RecordedResult, *, now: datetime) -> Ended:
        self._maybe("before finish")
        ended = self.records.finish(call_id, result, now=now)
        self._maybe("after finish")
        return ended

    def ask(self, call_id: str, question: Question, *, now: datetime) -> Asked:
        self._maybe("before ask")
        asked = self.records.ask(call_id, question, now=now)
        self._maybe("after ask")
        return asked

    def answer(
        self, call_id: str, answered: Answered, *, question_id: str | None, now: datetime
    ) -> str | None:
        self._maybe("before answer")
        call = self.records.answer(call_id, answered, question_id=question_id, now=now)
        self._maybe("after answer")
        return call

    def cancel(self, call_id: str, *, now: datetime) -> None:
        self.records.cancel(call_id, now=now)

    def send(self, message: Outgoing) -> None:
        self._maybe("before send")
        self.sender.send(message)
        self._maybe("after send")

    def _maybe(self, point: str) -> None:
        if point == self.where:
            raise Killed(point)


def killed_at(container: WorkerContainer, where: str) -> WorkerContainer:
    """The container, dying at `where`."""
    answering = container.worker.answering
    killer = Killer(answering.records, answering.sender, where)
    deadly = Answering(killer, killer, answering.clock, answering.worker)
    return replace(container, worker=replace(container.worker, answering=deadly))
