"""A deployment between two slices that changes the model, over the wire: each family is sent what it takes."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from core.agent import Agent
from core.app import App
from core.ports import Model
from core.settings import Settings
from infra.memory import MemoryClock, MemoryStore
from tests.support.inputs import result, user
from tests.support.recording import RecordingDispatcher
from tests.support.world import START, TOOLS, World, world
from tests.wire import frames
from tests.wire.asking import ADAPTIVE, CLAUDE, NOVA, UNKNOWN, asking
from tests.wire.server import ConverseServer
from tests.wire.steps import plays

ALL = (CLAUDE, ADAPTIVE, NOVA, UNKNOWN)


class Talk(World):
    """A world whose models are asked over the wire, by their names."""

    asked: Mapping[str, Model]

    @property
    def ports(self) -> Any:
        return replace(super().ports, models=lambda name: self.asked[name])

    def deploy(self, model_id: str, **fields: Any) -> None:
        """The same agent with another model."""
        self.app = App.of(_agent(model_id, **fields))


def _agent(model_id: str, **fields: Any) -> Agent:
    thinks = Settings(reasoning_tokens=1024)
    return Agent(
        **{"name": "helper", "model": f"bedrock:{model_id}", "tools": TOOLS, "settings": thinks, **fields}
    )


@asynccontextmanager
async def talk(model_id: str, *answers: Any) -> AsyncIterator[tuple[Talk, ConverseServer]]:
    """Leaving it fails for any request that the model asked would refuse."""
    clock = MemoryClock(START)
    async with ConverseServer(*answers) as server, AsyncExitStack() as stack:
        one = Talk(
            App.of(_agent(model_id)), world().model, clock, MemoryStore(clock), RecordingDispatcher(clock)
        )
        one.asked = {f"bedrock:{name}": await stack.enter_async_context(asking(server, name)) for name in ALL}
        yield one, server


def fetches(*before: list[bytes]) -> Any:
    call = frames.call(len(before), "fetch", '{"url": "u"}')
    return plays(frames.message(*before, call, reason="tool_use"))


SIGNED = frames.reasoning(0, "my secret thought", signature=["sig"])


@pytest.mark.parametrize("after", ALL)
@pytest.mark.parametrize("before", ALL)
async def test_a_model_changed_while_a_call_is_live_answers_it_and_gets_no_foreign_reasoning(
    before: str, after: str
) -> None:
    thought = [SIGNED] if before in (CLAUDE, ADAPTIVE) else []
    done, on = plays(frames.says("done")), plays(frames.says("on"))
    async with talk(before, fetches(*thought), done, on) as (one, server):
        await one.run(user("go"))
        one.deploy(after)
        (call_id,) = await one.live()
        await one.run(result(call_id))
        await one.run(user("more", "m2"))
        assert (await one.lines())[-3:] == ["Asst(done)", "User(more)", "Asst(on)"]
        sent = [str(request.body) for request in server.requests[1:]]
        assert [("my secret thought" in body) for body in sent] == [before == after and bool(thought)] * 2
        assert [request.model_id for request in server.requests] == [before, after, after]


async def test_reasoning_switched_off_and_on_while_a_call_is_live_is_sent_only_while_it_is_on() -> None:
    answers = [fetches(SIGNED), fetches(), plays(frames.says("done")), plays(frames.says("on"))]
    async with talk(CLAUDE, *answers) as (one, server):
        await one.run(user("go"))
        one.deploy(CLAUDE, settings=Settings())
        await one.run(result((await one.live())[0]))
        one.deploy(CLAUDE)
        await one.run(result((await one.live())[0]))
        await one.run(user("more", "m2"))
        thinks = ["additionalModelRequestFields" in request.body for request in server.requests]
        assert thinks == [True, False, False, True]
        assert (await one.lines())[-1] == "Asst(on)"


async def test_an_agent_that_lost_its_tools_and_its_model_goes_on_with_what_there_is() -> None:
    async with talk(CLAUDE, fetches(SIGNED), plays(frames.says("done"))) as (one, server):
        await one.run(user("go"))
        one.deploy(NOVA, tools=(), settings=Settings())
        await one.run(result((await one.live())[0]))
        assert (await one.lines())[-1] == "Asst(done)"
        assert "toolConfig" in server.requests[-1].body
