"""What whole slices cost over the real adapters, by the formula of storage.md: requests in order, units, bytes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aioboto3
import pytest
from botocore.config import Config

from core.app import App
from core.messages import Input
from core.slice import SlicePorts, run_slice
from infra.memory import MemoryStore
from infra.scheduler.requests import ScheduleTarget
from infra.scheduler.schedules import Schedules
from infra.sqs.dispatcher import SqsDispatcher
from tests.contract.samples import noise
from tests.contract.stores import DynamoStores, OpenedDynamo
from tests.contract.watched import Watched
from tests.support.inputs import THREAD, close, result, user
from tests.support.played import PlayedModel, Turn, calls, says
from tests.support.world import agent, world

QUEUES = ("input.fifo", "output.fifo", "delay", "worker-web")
NAMES = ("input", "output", "delay", "worker:web")
LOAD = ["query", "batch_get_item"]
TEXT_STORE = [*LOAD, "put_item", "batch_write_item", "update_item"]


@dataclass
class Deployed:
    """One agent over DynamoDB, SQS and EventBridge Scheduler, all watched."""

    aws: OpenedDynamo
    sqs: Watched
    scheduler: Watched
    dispatcher: SqsDispatcher
    model: PlayedModel
    app: App = field(default_factory=lambda: App.of(agent()))

    async def slice(self, taken: Input, *turns: Turn) -> None:
        """Run a slice and forget what was asked before it."""
        self.model.play(*turns)
        self.aws.dynamodb.operations(), self.sqs.operations(), self.scheduler.operations()
        ports = SlicePorts(self.aws.store, self.dispatcher, lambda _: self.model, self.aws.clock)
        await run_slice(self.app, ports, THREAD, [taken], seconds_left=lambda: 60.0)

    async def text_slice(self, number: int) -> None:
        await self.slice(user(noise(480, f"q{number}"), f"m{number}"), says(noise(480, f"a{number}")))

    async def grow(self, turns: int) -> None:
        """Bring the thread to that many text turns: made by real slices in memory, copied over at once."""
        memory = world()
        for number in range(1, turns + 1):
            memory.model.play(says(noise(480, f"a{number}")))
            await memory.run(user(noise(480, f"q{number}"), f"m{number}"))
        assert isinstance(memory.store, MemoryStore)
        commits = memory.store.commits(THREAD)
        await self.aws.seed(commits)
        await self.aws.store.mark(commits[-1])
        await self.aws.store.settled(commits[-1], waiting=False)


@asynccontextmanager
async def deployed(dynamo: DynamoStores, endpoint: str) -> AsyncIterator[Deployed]:
    session = aioboto3.Session(
        aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1"
    )
    options: Any = {
        "endpoint_url": endpoint,
        "config": Config(retries={"total_max_attempts": 1}),
        "verify": False,
    }
    async with (
        dynamo.open() as aws,
        session.client("sqs", **options) as client,
        session.client("scheduler", **options) as scheduling,
    ):
        urls = {}
        for name, queue in zip(NAMES, QUEUES, strict=True):
            fifo = {"FifoQueue": "true"} if queue.endswith(".fifo") else {}
            made = await client.create_queue(QueueName=f"{aws.table}-{queue}", Attributes=fifo)
            urls[name] = made["QueueUrl"]
        sqs, scheduler = Watched(client), Watched(scheduling)

        async def opened() -> Watched:
            return scheduler

        schedules = Schedules(opened, ScheduleTarget("default", "arn:role", "arn:delay", "arn:delay-dead"))
        dispatcher = SqsDispatcher(sqs, urls, aws.clock, lambda: 60.0, schedules)
        yield Deployed(aws, sqs, scheduler, dispatcher, PlayedModel())


async def test_a_text_answer_takes_six_requests(dynamo: DynamoStores, aws_endpoint: str) -> None:
    async with deployed(dynamo, aws_endpoint) as on:
        await on.text_slice(1)
        await on.text_slice(2)
        assert on.aws.dynamodb.operations() == TEXT_STORE
        assert on.sqs.operations() == ["send_message_batch"]


async def test_a_turn_with_calls_takes_one_more_per_queue(dynamo: DynamoStores, aws_endpoint: str) -> None:
    async with deployed(dynamo, aws_endpoint) as on:
        await on.slice(
            user("go"), calls(("fetch", {"url": "a"}), ("fetch", {"url": "b"}), ("dig", {"depth": 1}))
        )
        assert on.aws.dynamodb.operations() == TEXT_STORE
        written = [call.request["QueueUrl"].rpartition("-")[2] for call in on.sqs.calls]
        assert sorted(written) == ["delay", "output.fifo", "web"]
        assert on.scheduler.operations() == []


async def test_a_sleep_of_a_week_takes_one_more_per_schedule_and_a_close_one_to_take_it_back(
    dynamo: DynamoStores, aws_endpoint: str
) -> None:
    async with deployed(dynamo, aws_endpoint) as on:
        await on.slice(user("go"), calls(("sleep", {"seconds": 604_800})))
        assert on.aws.dynamodb.operations() == TEXT_STORE
        assert on.scheduler.operations() == ["create_schedule"]
        assert on.sqs.operations() == []
        await on.slice(close())
        assert on.scheduler.operations() == ["delete_schedule"]


async def test_a_result_that_others_are_waited_with_sends_nothing(
    dynamo: DynamoStores, aws_endpoint: str
) -> None:
    async with deployed(dynamo, aws_endpoint) as on:
        await on.slice(user("go"), calls(("fetch", {"url": "a"}), ("fetch", {"url": "b"})))
        first, *_ = (await on.aws.store.load(THREAD)).folded.state.live
        await on.slice(result(first.call_id))
        assert on.aws.dynamodb.operations() == [*LOAD, "put_item", "update_item"]
        assert on.sqs.operations() == []


async def test_each_inline_round_is_one_commit(dynamo: DynamoStores, aws_endpoint: str) -> None:
    async with deployed(dynamo, aws_endpoint) as on:
        await on.slice(user("go"), calls(("echo", {"text": "1"})), says("done"))
        assert on.aws.dynamodb.operations() == [*TEXT_STORE, "put_item", "update_item"]


async def test_a_duplicate_costs_its_load(dynamo: DynamoStores, aws_endpoint: str) -> None:
    async with deployed(dynamo, aws_endpoint) as on:
        await on.text_slice(1)
        await on.slice(user(noise(480, "q1"), "m1"))
        assert on.aws.dynamodb.operations() == LOAD
        assert on.sqs.operations() == []


@pytest.mark.parametrize("before", [9, 199])
async def test_a_warm_text_slice_costs_the_same_at_any_age(
    dynamo: DynamoStores, aws_endpoint: str, before: int
) -> None:
    async with deployed(dynamo, aws_endpoint) as on:
        await on.text_slice(1)
        size = on.aws.dynamodb.bytes_put()
    async with deployed(dynamo, aws_endpoint) as on:
        await on.grow(before)
        await on.aws.store.load(THREAD)
        await on.text_slice(before + 1)
        assert on.aws.dynamodb.bytes_put() == pytest.approx(size, rel=0.1)
        assert on.aws.dynamodb.write_units() <= 4
        assert on.aws.dynamodb.read_units() <= 4
        assert on.aws.dynamodb.operations() == TEXT_STORE
