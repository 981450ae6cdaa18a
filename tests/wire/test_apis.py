"""Whole conversations with other providers' models: slices on memory ports, adapter and client on the wire."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.agent import Agent
from core.app import App
from core.errors import Refused
from core.ports import Model
from core.settings import Settings
from infra.memory import MemoryClock, MemoryStore
from tests.support.inputs import message, result, user
from tests.support.recording import RecordingDispatcher
from tests.support.world import START, TOOLS, World, world
from tests.wire import sse
from tests.wire.anything import any_content
from tests.wire.api_servers import AnthropicServer, OpenAiServer
from tests.wire.asking_apis import ANTHROPIC, OPENAI, asking_api
from tests.wire.server import WireServer
from tests.wire.steps import Answer, Refusal, plays

PNG = b"\x89PNG\r\n\x1a\n" + bytes(4) + b"IHDR" + (64).to_bytes(4, "big") * 2
NAMES = {"openai": OPENAI, "anthropic": ANTHROPIC}
BOTH = pytest.mark.parametrize("kind", list(NAMES))


class Talk(World):
    """A world whose model is asked over the wire."""

    asked: Model

    @property
    def ports(self) -> Any:
        return replace(super().ports, models=lambda name: self.asked)


@asynccontextmanager
async def talk(kind: str, *answers: Answer, **fields: Any) -> AsyncIterator[tuple[Talk, WireServer]]:
    agent = Agent(
        **{"name": "helper", "instructions": "Help.", "model": NAMES[kind], "tools": TOOLS, **fields}
    )
    clock = MemoryClock(START)
    serves = {"openai": OpenAiServer, "anthropic": AnthropicServer}[kind]
    async with serves(*answers) as server, asking_api(server) as model:
        one = Talk(App.of(agent), world().model, clock, MemoryStore(clock), RecordingDispatcher(clock))
        one.asked = model
        yield one, server


def says(kind: str, text: str) -> Answer:
    return plays(sse.chat({"content": text}) if kind == "openai" else sse.messages(sse.text(0, text)))


def calls(kind: str, *named: tuple[str, str]) -> Answer:
    if kind == "openai":
        deltas = [delta for at, (name, args) in enumerate(named) for delta in sse.chat_call(at, name, args)]
        return plays(sse.chat({"reasoning_content": "hm"}, *deltas, reason="tool_calls"))
    blocks = [sse.call(at, name, args) for at, (name, args) in enumerate(named, start=1)]
    return plays(sse.messages(sse.thinking(0, "hm", signature="sig"), *blocks, reason="tool_use"))


@BOTH
async def test_a_conversation_with_inline_and_worker_calls_is_one_that_the_provider_takes(kind: str) -> None:
    turn = calls(kind, ("echo", '{"text": "hi"}'), ("fetch", '{"url": "u"}'), ("nope", "[1]"))
    async with talk(kind, turn, says(kind, "done"), says(kind, "again")) as (one, server):
        await one.run(user("go"))
        (call_id,) = await one.live()
        await one.run(result(call_id, {"found": 1}))
        await one.run(user("more", "m2"))
        assert (await one.lines())[-3:] == ["Asst(done)", "User(more)", "Asst(again)"]
        sent = str(server.requests[1].body)
        assert [piece in sent for piece in ("Help.", '{"found": 1}', "There is no tool")] == [True] * 3
        assert one.dispatcher.of_type("error") == []


@BOTH
async def test_a_refusal_is_told_and_the_next_message_answered(kind: str) -> None:
    async with talk(kind, Refusal(401, "authentication_error", "bad key"), says(kind, "hello")) as (one, _):
        await one.run(user("go"))
        (told,) = one.dispatcher.of_type("error")
        assert told["code"] == "model"
        await one.run(user("again", "m2"))
        assert (await one.lines())[-1] == "Asst(hello)"


@pytest.mark.parametrize("reason", ["content_filter", "refusal"])
async def test_what_a_filter_blocked_is_hidden_from_then_on(reason: str) -> None:
    kind = "openai" if reason == "content_filter" else "anthropic"
    blocked = plays(
        sse.chat({"content": "No."}, reason=reason)
        if kind == "openai"
        else sse.messages(sse.text(0, "No."), reason=reason)
    )
    async with talk(kind, blocked, says(kind, "hello")) as (one, server):
        await one.run(user("how do I poison", "m1"))
        await one.run(user("hi", "m2"))
        assert "poison" not in str(server.requests[-1].body)


async def test_signed_and_redacted_reasoning_goes_back_as_it_came() -> None:
    thinks = sse.messages(
        sse.thinking(0, "one", signature="s1"),
        sse.redacted(1, "secret=="),
        sse.call(2, "echo", '{"text": "hi"}'),
        reason="tool_use",
    )
    thinking = Settings(reasoning_tokens=2048, temperature=0.5)
    async with talk("anthropic", plays(thinks), says("anthropic", "ok"), settings=thinking) as (one, server):
        await one.run(user("go"))
        assert server.requests[0].body["thinking"]
        head = server.requests[1].body["messages"][1]["content"][:2]
        assert [(block["type"], block.get("signature") or block.get("data")) for block in head] == [
            ("thinking", "s1"),
            ("redacted_thinking", "secret=="),
        ]


async def test_reasoning_of_a_chat_is_kept_to_look_at_and_never_sent() -> None:
    async with talk("openai", calls("openai", ("echo", '{"text": "x"}')), says("openai", "ok")) as (
        one,
        server,
    ):
        await one.run(user("go"))
        assert (await one.lines())[1].startswith("Reason(hm")
        assert "hm" not in str(server.requests[1].body["messages"][2])


@BOTH
async def test_images_and_documents_are_sent_as_the_provider_takes_them_and_others_as_a_note(
    kind: str,
) -> None:
    def block(kind_: str, media_type: str, data: bytes) -> dict[str, str]:
        named = {"name": "notes"} if kind_ == "document" else {}
        return {"type": kind_, "media_type": media_type, "data": base64.b64encode(data).decode(), **named}

    content = [
        block("image", "image/png", PNG),
        block("document", "application/pdf", b"%PDF-1.7"),
        block("document", "text/plain", b"plain words \xff"),
        block("document", "application/msword", b"word"),
        {"type": "image", "media_type": "image/png", "s3": "s3://bucket/key"},
    ]
    async with talk(kind, says(kind, "seen")) as (one, server):
        await one.run(message("user_message", "m1", content=content))
        sent = str(server.requests[0].body["messages"])
    assert base64.b64encode(PNG).decode() in sent
    assert base64.b64encode(b"%PDF-1.7").decode() in sent
    assert "plain words" in sent
    assert sent.count("not shown") == 2


async def test_a_servers_own_limit_on_output_has_the_name_that_every_server_knows() -> None:
    async with talk("openai", says("openai", "ok")) as (one, server):
        await one.run(user("go"))
        body = server.requests[0].body
        assert body["max_tokens"] == 4096
        assert body["messages"][-1] == {"role": "user", "content": "go"}
        assert server.requests[0].headers["authorization"] == "Bearer none"


@BOTH
@settings(max_examples=30)
@given(contents=st.lists(any_content, min_size=1, max_size=3))
async def test_after_any_content_the_next_message_is_answered(kind: str, contents: list[Any]) -> None:
    async with talk(kind) as (one, server):
        server.otherwise = says(kind, "fine")
        for number, content in enumerate(contents):
            with suppress(Refused):
                await one.run(message("user_message", f"m{number}", content=content))
        await one.run(user("and now?", "last"))
        assert (await one.lines())[-1] == "Asst(fine)"
