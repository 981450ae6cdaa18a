"""Whole conversations: slices on memory ports; the adapter, its client and the wire between them and the server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from core.agent import Agent
from core.app import App
from core.messages import Input
from core.ports import Model
from core.settings import Limits, Settings
from core.slice import SlicePorts, run_slice
from infra.memory import MemoryClock, MemoryStore
from tests.support.inputs import THREAD, result, user
from tests.support.lines import lines
from tests.support.recording import RecordingDispatcher
from tests.support.world import START, TOOLS, WEB
from tests.wire import frames
from tests.wire.asking import CLAUDE, asking
from tests.wire.server import ConverseServer
from tests.wire.steps import Cut, Refusal, first, plays

THINKER = Agent(
    name="thinker",
    model=f"bedrock:{CLAUDE}",
    instructions="Think, then act.",
    tools=TOOLS,
    settings=Settings(reasoning_tokens=1024),
    limits=Limits(),
)


@dataclass
class Talk:
    """One thread, played by the server."""

    server: ConverseServer
    ports: SlicePorts
    store: MemoryStore
    dispatcher: RecordingDispatcher

    async def run(self, *inputs: Input) -> None:
        """One slice."""
        await run_slice(App.of(THINKER), self.ports, THREAD, inputs, seconds_left=lambda: 60.0)

    async def lines(self) -> list[str]:
        return lines(await self.store.entries(THREAD))

    @property
    def last_kinds(self) -> list[list[str]]:
        """The blocks of the newest request, message by message; cache points aside."""
        return [
            [kind for block in message["content"] for kind in block if kind != "cachePoint"]
            for message in self.server.requests[-1].messages
        ]


@asynccontextmanager
async def talk(*answers: Any) -> AsyncIterator[Talk]:
    """A conversation whose model will play these."""
    clock = MemoryClock(START)
    store, dispatcher = MemoryStore(clock), RecordingDispatcher(clock)
    async with ConverseServer(*answers) as server, asking(server) as model:

        def models(name: str) -> Model:
            assert name == THINKER.model
            return model

        yield Talk(server, SlicePorts(store, dispatcher, models, clock), store, dispatcher)


def echoes(text: str, signature: str) -> list[bytes]:
    return frames.message(
        frames.reasoning(0, "I repeat.", signature=[signature]),
        frames.call(1, "echo", f'{{"text": "{text}"}}'),
        reason="tool_use",
    )


async def test_a_conversation_of_several_turns_with_tools_keeps_reasoning_with_its_calls() -> None:
    async with talk(
        plays(echoes("one", "s1")), plays(echoes("two", "s2")), plays(frames.says("done"))
    ) as one:
        await one.run(user("go"))
        assert await one.lines() == [
            "User(go)",
            "Reason(I repeat., s1)",
            'Call(echo, {"text": "one"})',
            "Result(echo, one)",
            "Reason(I repeat., s2)",
            'Call(echo, {"text": "two"})',
            "Result(echo, two)",
            "Asst(done)",
        ]
        assert one.last_kinds == [
            ["text"],
            ["reasoningContent", "toolUse"],
            ["toolResult"],
            ["reasoningContent", "toolUse"],
            ["toolResult"],
        ]
        signatures = [
            block["reasoningContent"]["reasoningText"]["signature"]
            for message in one.server.requests[-1].messages
            for block in message["content"]
            if "reasoningContent" in block
        ]
        assert signatures == ["s1", "s2"]
        one.server.play(plays(frames.says("again")))
        await one.run(user("more", "m2"))
        assert one.last_kinds[-2:] == [["text"], ["text"]]


async def test_parallel_calls_with_one_id_come_back_as_results_of_their_own() -> None:
    both = frames.message(
        frames.reasoning(0, "Both.", signature=["s"]),
        frames.text(1, "Asking both."),
        frames.call(2, "fetch", '{"url": "a"}', use_id="tooluse_0"),
        frames.call(3, "fetch", '{"url": "b"}', use_id="tooluse_0"),
        reason="tool_use",
    )
    async with talk(plays(both), plays(frames.says("both in"))) as one:
        await one.run(user("go"))
        first_call, second_call = [sent.call_id for sent in one.dispatcher.sent if sent.queue == WEB]
        await one.run(result(second_call or "", "B"))
        await one.run(result(first_call or "", "A"))
        assert (await one.lines())[-1] == "Asst(both in)"
        answered = one.server.requests[-1].messages[-1]["content"]
        said = [block["toolResult"]["content"][0]["text"] for block in answered if "toolResult" in block]
        assert said == ["A", "B"]


async def test_a_call_that_was_cut_off_is_answered_and_never_run() -> None:
    cut = frames.message(
        frames.reasoning(0, "…", signature=["s"]), frames.call(1, "echo"), reason="max_tokens"
    )
    async with talk(plays(cut), plays(frames.says("sorry"))) as one:
        await one.run(user("go"))
        assert (await one.lines())[-2:] == ["Result(echo, error)", "Asst(sorry)"]


async def test_a_stream_cut_in_mid_call_is_rebuilt_from_clean_history() -> None:
    reply = echoes("once", "s")
    size = len(b"".join(reply[:6]))
    async with talk(first(reply, size, Cut()), plays(reply), plays(frames.says("done"))) as one:
        await one.run(user("go"))
        assert one.server.requests[0].body == one.server.requests[1].body
        assert [line for line in await one.lines() if line.startswith("Call")] == [
            'Call(echo, {"text": "once"})'
        ]


async def test_a_throttled_model_is_asked_again_by_the_slice() -> None:
    throttled = Refusal(429, "ThrottlingException", "slow down")
    async with talk(throttled, throttled, plays(frames.says("at last"))) as one:
        await one.run(user("go"))
        assert await one.lines() == ["User(go)", "Asst(at last)"]


async def test_an_overflow_is_asked_once_more_with_less() -> None:
    too_long = Refusal(400, "ValidationException", "Input is too long for requested model.")
    async with talk(plays(echoes("x" * 20_000, "s")), too_long, plays(frames.says("short"))) as one:
        await one.run(user("go"))
        sizes = [len(str(request.messages)) for request in one.server.requests]
        assert sizes[2] < sizes[1]
        assert (await one.lines())[-1] == "Asst(short)"


async def test_a_refusal_ends_the_turn_and_the_next_message_is_answered() -> None:
    refused = Refusal(403, "AccessDeniedException", "no access")
    async with talk(refused, plays(frames.says("hello"))) as one:
        await one.run(user("go"))
        assert [output["code"] for output in one.dispatcher.outputs] == ["model"]
        await one.run(user("again", "m2"))
        assert (await one.lines())[-1] == "Asst(hello)"


async def test_a_model_that_only_reasons_leaves_nothing_that_could_be_refused() -> None:
    silent = frames.message(frames.reasoning(0, "…", signature=["s"]))
    async with talk(plays(silent), plays(frames.says("hello"))) as one:
        await one.run(user("go"))
        await one.run(user("again", "m2"))
        assert one.last_kinds == [["text", "text"]]
