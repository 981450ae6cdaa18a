"""One thread over the wire whose agent has a tool that takes anything and returns what it is told to."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from core.agent import Agent
from core.app import App
from core.entries import ToolCall, ToolResult
from core.errors import Refused
from core.messages import Input
from core.settings import Settings
from core.tools import tool
from infra.memory import MemoryClock, MemoryStore
from tests.support.inputs import THREAD, message, result, user
from tests.support.recording import RecordingDispatcher
from tests.support.world import START, World, fetch, world
from tests.wire import frames
from tests.wire.asking import asking
from tests.wire.server import ConverseServer
from tests.wire.steps import plays


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
