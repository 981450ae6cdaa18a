"""The agent function calls Bedrock: its container opens the client when a model is first asked, and keeps it."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from handlers.clients import AsyncClients, AwsAccess
from infra.local import LocalTorpor
from tests.support.world import agent
from tests.wire import frames
from tests.wire.asking import CLAUDE
from tests.wire.in_thread import served
from tests.wire.server import WireServer
from tests.wire.steps import Refusal, plays

APP = agent(instructions="Repeat.", model=f"bedrock:{CLAUDE}")
CALL = frames.message(frames.call(0, "echo", '{"text": "hi"}'), reason="tool_use")


@pytest.fixture
def bedrock(monkeypatch: pytest.MonkeyPatch) -> Iterator[WireServer]:
    """A Bedrock that the SDK finds by itself, as it finds the person's credentials and region."""
    with served() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "PERSON")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        monkeypatch.setenv("AWS_REGION", "eu-central-1")
        yield server


def message(message_id: str) -> dict[str, Any]:
    return {"type": "user_message", "thread_id": "t1", "message_id": message_id, "content": "go"}


def test_the_agent_function_asks_bedrock_in_the_persons_name_not_the_emulators(
    bedrock: WireServer,
) -> None:
    bedrock.play(plays(CALL), plays(frames.says("hi")), plays(frames.says("again")))
    with LocalTorpor(app=APP) as local:
        assert bedrock.requests == []
        for message_id in ("m1", "m2"):
            local.send(message(message_id))
            local.drain()
        said = [output["text"] for output in local.outputs("t1") if output.get("final")]
    assert said == ["hi", "again"]
    signed_by = {request.headers["authorization"].partition("Credential=")[2] for request in bedrock.requests}
    assert [name.split("/")[0::2][:2] for name in signed_by] == [["PERSON", "eu-central-1"]] * len(signed_by)
    assert bedrock.connections == 1


def test_an_agent_function_that_calls_no_model_of_bedrock_opens_no_client(bedrock: WireServer) -> None:
    with LocalTorpor(app=APP, model="script:examples/research.json") as local:
        local.send(message("m1"))
        local.drain()
        assert local.outputs("t1")
    assert bedrock.connections == 0


def test_a_refusal_is_told_and_the_thread_goes_on(bedrock: WireServer) -> None:
    bedrock.play(Refusal(403, "AccessDeniedException", "not yours"), plays(frames.says("now")))
    with LocalTorpor(app=APP) as local:
        local.send(message("m1"))
        local.drain()
        (told,) = local.outputs("t1")
        assert (told["type"], told["code"]) == ("error", "model")
        assert "bedrock:InvokeModelWithResponseStream" in told["message"]
        local.send(message("m2"))
        local.drain()
        assert local.outputs("t1")[-1]["text"] == "now"


async def test_however_many_ask_at_once_one_client_is_opened(bedrock: WireServer) -> None:
    clients = AsyncClients(AwsAccess("us-east-1", "http://127.0.0.1:9"))
    lazy = clients.lazily(AwsAccess("us-east-1", bedrock.url), 5)
    asked = [lazy.of("bedrock-runtime") for _ in range(3)]
    first, *others = await asyncio.gather(*asked)
    assert [client is first for client in others] == [True, True]
    await clients.close()
