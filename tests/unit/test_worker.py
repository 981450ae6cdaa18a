"""The worker's rules on in-memory ports: what is sent again, how long a lease holds, what bounds a run."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.dead_calls import answer_dead_work
from core.errors import Refused
from core.tools import Tool, ToolContext, tool
from core.work import AlreadyRunning
from core.work_messages import ToolCallMessage, parse_work
from core.worker import LEASE_MARGIN_SECONDS, RESERVE_SECONDS, Answering, CallRunning, Worker
from infra.memory import MemoryClock
from infra.memory.dispatcher import MemorySender
from infra.memory.queues import MemoryQueues, QueueSettings
from infra.work.memory import MemoryWorkRecords

START = datetime(2025, 1, 1, tzinfo=UTC)


@tool(worker="w", timeout_seconds=60)
def where(ctx: ToolContext) -> dict[str, Any]:
    """Tell what the context says."""
    return {"stack": ctx.thread_stack, "root": ctx.root_thread_id, "until": ctx.deadline.isoformat()}


class World:
    def __init__(self, *tools: Tool) -> None:
        self.clock = MemoryClock(START)
        self.queues = MemoryQueues(self.clock)
        self.queues.create("input", QueueSettings(fifo=True))
        self.records = MemoryWorkRecords()
        self.answering = Answering(self.records, MemorySender(self.queues, self.clock), self.clock)
        self.worker = Worker("w", {made.name: made for made in tools}, self.answering)

    def answers(self) -> list[dict[str, Any]]:
        return [json.loads(body) for body in self.queues.bodies("input")]


def call(**changes: Any) -> str:
    fields = {
        "type": "tool_call",
        "thread_id": "t~child",
        "thread_ancestors": ["t"],
        "call_id": "c1",
        "name": "where",
        "args": {},
        "deadline": "2025-01-01T01:00:00Z",
    }
    return json.dumps(fields | changes)


async def test_a_tool_sees_its_thread_and_the_deadline_of_its_call() -> None:
    world = World(where.tool)
    assert await world.worker.handle(call(), "a", 300) == "answered"
    (answer,) = world.answers()
    assert answer["content"][0]["data"] == {
        "stack": ["t", "t~child"],
        "root": "t",
        "until": "2025-01-01T01:00:00+00:00",
    }


async def test_a_duplicate_sends_the_recorded_result_again_under_the_same_ids() -> None:
    world = World(where.tool)
    await world.worker.handle(call(), "a", 300)
    assert await world.worker.handle(call(), "b", 300) == "answered"
    assert len(world.answers()) == 1
    world.clock.advance(300)
    await Worker("w", {}, world.answering).handle(call(), "c", 300)
    first, again = world.answers()
    assert first == again


@pytest.mark.parametrize(
    ("time_left_seconds", "until_deadline_seconds", "run_seconds"),
    [(300, 3_600, 60), (23, 3_600, 23 - RESERVE_SECONDS), (300, 20, 20)],
    ids=["the tool's timeout", "the invocation's end", "the call's deadline"],
)
async def test_a_lease_covers_the_longest_the_run_can_take(
    time_left_seconds: float, until_deadline_seconds: float, run_seconds: float
) -> None:
    seen: list[object] = []

    @tool(worker="w", timeout_seconds=60)
    def probe() -> None:
        """Ask for the same call meanwhile."""
        now = world.clock.now()
        seen.append(world.records.begin("#c1", attempt="other", lease_until=now, now=now))

    world = World(probe.tool)
    deadline = (START + timedelta(seconds=until_deadline_seconds)).isoformat()
    await world.worker.handle(call(name="probe", deadline=deadline), "a", time_left_seconds)
    assert seen == [AlreadyRunning(START + timedelta(seconds=run_seconds + LEASE_MARGIN_SECONDS))]


async def test_a_dead_call_waits_for_its_lease_and_is_then_answered_with_an_error() -> None:
    world = World()
    until = START + timedelta(seconds=70)
    world.records.begin("#c1", attempt="a", lease_until=until, now=START)
    with pytest.raises(CallRunning):
        await answer_dead_work(call(), "b", world.answering)
    world.clock.advance(70)
    assert await answer_dead_work(call(), "c", world.answering) == "answered"
    (answer,) = world.answers()
    assert answer["is_error"]


@pytest.mark.parametrize(
    "changes",
    [
        {"thread_id": "a b"},
        {"call_id": ""},
        {"call_id": "c" * 65},
        {"args": []},
        {"deadline": "2025-01-01T00:00:00"},
        {"deadline": None},
        {"v": 2},
        {"type": "tool_question"},
    ],
    ids=str,
)
def test_a_work_message_with_a_bad_field_is_refused(changes: dict[str, Any]) -> None:
    assert isinstance(parse_work(call()), ToolCallMessage)
    with pytest.raises(Refused):
        parse_work(call(**changes))


@pytest.mark.parametrize("field", ["type", "thread_id", "deadline", "args", "v"])
def test_a_refused_work_message_names_the_field_and_never_quotes_it(field: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_work(call(**{field: "secret words"}))
    assert refused.value.reason.startswith(f"{field}: ")
    assert "secret" not in refused.value.reason
