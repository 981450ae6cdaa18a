"""Both dispatchers behind one door: what was tried and what arrived can be read, sends fail where a test says so."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any, Protocol

import aioboto3
from botocore.config import Config

from core.ports import Dispatcher, Outgoing
from infra.memory import MemoryClock, MemorySchedule, MemorySchedules
from infra.memory.dispatcher import MemoryDispatcher
from infra.memory.queues import MemoryQueues, QueueSettings
from infra.queue_errors import QueueUnavailable
from infra.scheduler.requests import ScheduleTarget
from infra.scheduler.schedules import Schedules
from infra.sqs.dispatcher import SqsDispatcher
from infra.sqs.limits import body_fault
from tests.contract.watched import refused

START = datetime(2025, 1, 1, tzinfo=UTC)
PATIENCE_SECONDS = 5.0
QUEUES = ("input", "output", "delay", "worker:research")
FIFO = ("input", "output")
FOR_EVER = 1_000_000
_SESSION = aioboto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1")
_CONFIG: Any = Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=20)
_NUMBERS = count(1)


def message(queue: str, name: str, group: str | None = None, **fields: Any) -> Outgoing:
    """A message whose id and body say `name`."""
    return Outgoing(f"id-{name}", queue, json.dumps({"name": name}), group, **fields)


def takes_back(name: str) -> Outgoing:
    """Takes back the schedule of the message `name`."""
    return Outgoing(f"un-{name}", "unschedule", f"id-{name}")


@dataclass
class Faults:
    """Which messages fail, how often, and every try."""

    left: Counter[str] = field(default_factory=Counter)
    tries: list[str] = field(default_factory=list)

    def fail(self, name: str, times: int = 1) -> None:
        self.left[name] = times

    def strikes(self, body: str) -> bool:
        """Whether the try of this body fails. One that takes back goes by the id of what it takes back."""
        name = json.loads(body)["name"] if body.startswith("{") else body
        self.tries.append(name)
        self.left[name] -= 1
        return self.left[name] >= 0


class Rig(Protocol):
    """A dispatcher over empty queues."""

    faults: Faults
    clock: MemoryClock

    @property
    def dispatcher(self) -> Dispatcher: ...

    async def arrived(self, queue: str) -> list[str]:
        """Names of what is in the queue, in order."""
        ...

    async def beside(self, queue: str) -> list[dict[str, str]]:
        """The attributes of what is in the queue, in order."""
        ...

    async def delay_seconds(self, name: str) -> float:
        """The delay under which a message was put into the delay queue."""
        ...

    async def scheduled(self) -> dict[str, str]:
        """When each schedule that is there fires, in UTC, by name."""
        ...


class _FaultyQueues(MemoryQueues):
    def __init__(self, clock: MemoryClock, faults: Faults) -> None:
        super().__init__(clock)
        self._faults = faults

    def send(self, name: str, body: str, **parameters: Any) -> str:
        if not body_fault(body) and self._faults.strikes(body):
            raise QueueUnavailable("injected")
        return super().send(name, body, **parameters)


class _FaultySchedules(MemorySchedules):
    def __init__(self, queues: MemoryQueues, clock: MemoryClock, faults: Faults) -> None:
        super().__init__(queues, clock)
        self._faults = faults

    def create(self, schedule: MemorySchedule) -> None:
        if not body_fault(schedule.body) and self._faults.strikes(schedule.body):
            raise QueueUnavailable("injected")
        super().create(schedule)

    def delete(self, name: str) -> None:
        if self._faults.strikes(name):
            raise QueueUnavailable("injected")
        super().delete(name)


class MemoryRig:
    def __init__(self) -> None:
        self.faults, self.clock = Faults(), MemoryClock(START)
        self._queues = _FaultyQueues(self.clock, self.faults)
        for name in QUEUES:
            self._queues.create(name, QueueSettings(fifo=name in FIFO))
        self._schedules = _FaultySchedules(self._queues, self.clock, self.faults)

    @property
    def dispatcher(self) -> Dispatcher:
        return MemoryDispatcher(self._queues, self._schedules, self.clock, lambda: PATIENCE_SECONDS)

    async def arrived(self, queue: str) -> list[str]:
        return [json.loads(body)["name"] for body in self._queues.bodies(queue)]

    async def beside(self, queue: str) -> list[dict[str, str]]:
        found = [record["messageAttributes"] for record in self._queues.receive(queue, 10)]
        return [{name: value["stringValue"] for name, value in one.items()} for one in found]

    async def delay_seconds(self, name: str) -> float:
        assert await self.arrived("delay") == [name]
        visible_at = self._queues.next_visible_at("delay")
        assert visible_at is not None
        return (visible_at - self.clock.now()).total_seconds()

    async def scheduled(self) -> dict[str, str]:
        return {one.name: f"{one.fires_at:%Y-%m-%dT%H:%M:%S.%f}" for one in self._schedules.pending()}


class FaultySqs:
    """Leaves out the entries that are to fail, and says so as SQS does."""

    def __init__(self, client: Any, faults: Faults) -> None:
        self._client, self._faults = client, faults
        self.requests: list[Sequence[Mapping[str, Any]]] = []

    async def send_message_batch(self, *, QueueUrl: str, Entries: Sequence[Mapping[str, Any]]) -> Any:
        self.requests.append(Entries)
        struck = {entry["Id"] for entry in Entries if self._faults.strikes(entry["MessageBody"])}
        sent = [entry for entry in Entries if entry["Id"] not in struck]
        answer = await self._client.send_message_batch(QueueUrl=QueueUrl, Entries=sent) if sent else {}
        failed = [{"Id": name, "SenderFault": False, "Code": "InternalFailure"} for name in struck]
        return {**answer, "Failed": [*answer.get("Failed", ()), *failed]}


class FaultyScheduler:
    """Fails as EventBridge Scheduler does."""

    def __init__(self, client: Any, faults: Faults) -> None:
        self._client, self._faults = client, faults
        self.opened = 0
        self.requests: list[Mapping[str, Any]] = []

    async def open(self) -> "FaultyScheduler":
        self.opened += 1
        return self

    async def create_schedule(self, **parameters: Any) -> Any:
        return await self._ask("create_schedule", parameters["Target"]["Input"], parameters)

    async def delete_schedule(self, **parameters: Any) -> Any:
        return await self._ask("delete_schedule", parameters["Name"], parameters)

    async def _ask(self, operation: str, body: str, parameters: Mapping[str, Any]) -> Any:
        self.requests.append({"operation": operation, **parameters})
        if self._faults.strikes(body):
            raise refused("InternalServerException", 500)
        return await getattr(self._client, operation)(**parameters)


class SqsRig:
    def __init__(self, client: Any, urls: Mapping[str, str], scheduler: Any, group: str) -> None:
        self.faults, self.clock = Faults(), MemoryClock(START)
        self.sqs, self.urls = client, dict(urls)
        self.client = FaultySqs(client, self.faults)
        self._moto = scheduler
        self.scheduler = FaultyScheduler(scheduler, self.faults)
        self.target = ScheduleTarget(group, "arn:role", "arn:delay", "arn:delay-dead")

    @property
    def dispatcher(self) -> Dispatcher:
        return self.dispatcher_over(self.client)

    def dispatcher_over(
        self, sqs: Any, scheduler: Any = None, patience: float = PATIENCE_SECONDS
    ) -> Dispatcher:
        """The same with other clients."""

        async def opened() -> Any:
            return scheduler

        schedules = Schedules(self.scheduler.open if scheduler is None else opened, self.target)
        return SqsDispatcher(sqs, self.urls, self.clock, lambda: patience, schedules)

    async def arrived(self, queue: str) -> list[str]:
        names: list[str] = []
        while found := await self._take(self.urls[queue]):
            names += [json.loads(message["Body"])["name"] for message in found]
        return names

    async def beside(self, queue: str) -> list[dict[str, str]]:
        found = [message.get("MessageAttributes", {}) for message in await self._take(self.urls[queue])]
        return [{name: value["StringValue"] for name, value in one.items()} for one in found]

    async def _take(self, url: str) -> list[Any]:
        found = await self.sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"]
        )
        messages: list[Any] = found.get("Messages", [])
        for message in messages:
            await self.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return messages

    async def delay_seconds(self, name: str) -> float:
        (entry,) = self.client.requests[-1]
        assert json.loads(entry["MessageBody"])["name"] == name
        return float(entry.get("DelaySeconds", 0))

    async def scheduled(self) -> dict[str, str]:
        listed = await self._moto.list_schedules(GroupName=self.target.group)
        found = {}
        for name in sorted(one["Name"] for one in listed["Schedules"]):
            whole = await self._moto.get_schedule(GroupName=self.target.group, Name=name)
            found[name] = whole["ScheduleExpression"].removeprefix("at(").removesuffix(")") + ".000000"
        return found


class Rigs(Protocol):
    def open(self) -> AbstractAsyncContextManager[Rig]: ...


class MemoryRigs:
    @asynccontextmanager
    async def open(self) -> AsyncIterator[MemoryRig]:
        yield MemoryRig()


class SqsRigs:
    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint

    @asynccontextmanager
    async def open(self) -> AsyncIterator[SqsRig]:
        where = {"endpoint_url": self._endpoint, "config": _CONFIG, "verify": False}
        async with (
            _SESSION.client("sqs", **where) as client,
            _SESSION.client("scheduler", **where) as scheduler,
        ):
            urls, group = {}, f"g{next(_NUMBERS)}"
            await scheduler.create_schedule_group(Name=group)
            for name in QUEUES:
                fifo = name in FIFO
                created = await client.create_queue(
                    QueueName=f"q{next(_NUMBERS)}{'.fifo' if fifo else ''}",
                    Attributes={"FifoQueue": "true"} if fifo else {},
                )
                urls[name] = created["QueueUrl"]
            yield SqsRig(client, urls, scheduler, group)
