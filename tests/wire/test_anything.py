"""Whatever is sent, streamed and returned: the thread goes on, over Converse's rules; nothing half-received runs."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.agent import Agent
from core.app import App
from core.entries import ToolCall, ToolResult
from core.errors import Refused
from core.messages import Input
from core.settings import Settings
from core.text import clean_json
from core.tools import tool
from infra.memory import MemoryClock, MemoryStore
from tests.support.inputs import THREAD, message, result, user
from tests.support.recording import RecordingDispatcher
from tests.support.world import START, World, fetch, world
from tests.wire import frames
from tests.wire.anything import Spoken, any_content, any_json, any_text, spoken
from tests.wire.asking import CLAUDE, NOVA, UNKNOWN, asking
from tests.wire.server import ConverseServer
from tests.wire.steps import plays

models = st.sampled_from([CLAUDE, NOVA, UNKNOWN])


class Talk(World):
    """A world whose model is asked over the wire, with one inline tool that returns what it is told to."""

    asked: Any
    ran: list[Any]

    @property
    def ports(self) -> Any:
        return replace(super().ports, models=lambda name: self.asked)

    async def send(self, message_id: str, content: Any) -> None:
        """User content of any shape. What is refused is refused by a reason that names its field."""
        taken = _input(message_id, content)
        if isinstance(taken, Refused):
            assert taken.reason.startswith("content")
        else:
            await self.run(taken)

    async def answer_workers(self, content: Any) -> None:
        """Every live call, until there are none."""
        for _ in range(5):
            for call_id in await self.live():
                try:
                    await self.run(result(call_id, content))
                except Refused:
                    await self.run(result(call_id, "refused", f"again-{call_id}"))

    async def goes_on(self) -> None:
        """The next ordinary message is answered, and every call has had its one answer."""
        await self.run(user("and now?", "last"))
        assert (await self.lines())[-1] == "Asst(fine)"
        entries = await self.store.entries(THREAD)
        called = [entry.call_id for entry in entries if isinstance(entry, ToolCall)]
        answered = [entry.call_id for entry in entries if isinstance(entry, ToolResult)]
        assert sorted(called) == sorted(answered)
        json.dumps([entry.to_json() for entry in entries], allow_nan=False).encode()


def _input(message_id: str, content: Any) -> Input | Refused:
    try:
        return message("user_message", message_id, content=content)
    except Refused as refusal:
        return refusal


@asynccontextmanager
async def talk(model_id: str, returned: Any = "taken") -> AsyncIterator[tuple[Talk, ConverseServer]]:
    """Leaving it fails for any request that Converse would refuse."""
    ran: list[Any] = []

    @tool
    def take(value: Any) -> Any:
        """Take anything."""
        ran.append(value)
        return returned

    agent = Agent(
        name="taker",
        model=f"bedrock:{model_id}",
        tools=[take, fetch],
        settings=Settings(reasoning_tokens=1024),
    )
    clock = MemoryClock(START)
    async with ConverseServer() as server, asking(server, model_id) as model:
        one = Talk(App.of(agent), world().model, clock, MemoryStore(clock), RecordingDispatcher(clock))
        one.asked, one.ran = model, ran
        server.otherwise = plays(frames.says("fine"))
        yield one, server


@settings(max_examples=60)
@given(models, st.lists(any_content, min_size=1, max_size=3))
async def test_after_any_user_content_the_next_message_is_answered(
    model_id: str, contents: list[Any]
) -> None:
    async with talk(model_id) as (one, _):
        for number, content in enumerate(contents):
            await one.send(f"m{number}", content)
        await one.goes_on()


@settings(max_examples=80)
@given(models, st.lists(spoken, min_size=1, max_size=3), any_content)
async def test_after_any_stream_of_a_model_the_next_message_is_answered_and_nothing_half_received_ran(
    model_id: str, streams: list[Spoken], returned: Any
) -> None:
    async with talk(model_id) as (one, server):
        for number, said in enumerate(streams):
            one.ran.clear()
            server.play(said.stream)
            await one.run(user("go", f"m{number}"))
            assert len(one.ran) <= len(said.arguments)
            await one.answer_workers(returned)
        await one.goes_on()


@settings(max_examples=60)
@given(
    models, st.lists(any_json, min_size=1, max_size=3), any_json | st.binary() | st.sets(any_text, max_size=2)
)
async def test_arguments_and_results_of_every_json_type_and_of_none_reach_the_tool_and_the_model(
    model_id: str, values: list[Any], returned: Any
) -> None:
    async with talk(model_id, returned) as (one, server):
        for number, value in enumerate(values):
            call = frames.call(0, "take", json.dumps({"value": value}, allow_nan=True))
            server.play(plays(frames.message(call, reason="tool_use")))
            one.ran.clear()
            await one.run(user("go", f"m{number}"))
            assert one.ran == ([clean_json(value)] if _is_json(value) else [])
        await one.goes_on()


def _is_json(value: Any) -> bool:
    """JSON has no word for what is not finite: such arguments are no JSON, and the call is answered so."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("cut_at", range(0, 120, 7))
async def test_a_call_cut_anywhere_is_never_run(cut_at: int) -> None:
    async with talk(CLAUDE) as (one, server):
        whole = json.dumps({"value": "x" * 100})
        call = frames.call(0, "take", whole[:cut_at])
        server.play(plays(frames.message(call, reason="max_tokens")))
        await one.run(user("go"))
        assert one.ran == []
        await one.goes_on()
