"""What Bedrock refuses, before and inside a stream: later, never, or too long. Nothing is tried again by the client."""

import os
from typing import Any

import pytest

from core.chunks import CallChunk, Chunk, TextChunk
from core.errors import MalformedRequest, ModelDenied, ModelOverflow, ModelRefused, ModelUnavailable
from core.ports import Model
from handlers.clients import AsyncClients, AwsAccess
from infra.bedrock.model import BedrockModel
from tests.wire import frames
from tests.wire.asking import ask, asking, request, user
from tests.wire.server import ConverseServer
from tests.wire.steps import Answer, Refusal, plays

LATER = [
    (429, "ThrottlingException"),
    (503, "ServiceUnavailableException"),
    (500, "InternalServerException"),
    (408, "ModelTimeoutException"),
    (429, "ModelNotReadyException"),
    (424, "ModelErrorException"),
    (400, "ServiceQuotaExceededException"),
    (502, "CodeOfTomorrow"),
    (429, "CodeOfTomorrow"),
]
NEVER = [
    (400, "ValidationException"),
    (403, "AccessDeniedException"),
    (404, "ResourceNotFoundException"),
    (403, "UnrecognizedClientException"),
    (403, "ExpiredTokenException"),
    (400, "CodeOfTomorrow"),
]
TOO_LONG = [
    "Input is too long for requested model.",
    "The model returned the following errors: prompt is too long: 215000 tokens > 200000 maximum",
    "The model returned the following errors: input length and `max_tokens` exceed context limit: 199000 + 4096",
    "This model's maximum context length is 131072 tokens. Please reduce the length of the prompt",
    "400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9279",
    "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
    "Malformed input request: expected maxLength: 50000, actual: 52611, please reformat your input and try again.",
]


async def failure_of(answer: Answer, into: list[Chunk] | None = None) -> Exception:
    """What the answer is raised as. It is asked for once."""
    async with ConverseServer(answer) as server, asking(server) as model:
        with pytest.raises((ModelUnavailable, ModelRefused)) as raised:
            await ask(model, into=into)
        assert len(server.requests) == 1
    return raised.value


@pytest.mark.parametrize(("status", "code"), LATER)
async def test_what_may_work_later_is_unavailable(status: int, code: str) -> None:
    assert type(await failure_of(Refusal(status, code, "slow down"))) is ModelUnavailable


@pytest.mark.parametrize(("status", "code"), NEVER)
async def test_what_never_works_is_refused_and_says_why(status: int, code: str) -> None:
    failure = await failure_of(Refusal(status, code, "the provider's words"))
    assert type(failure) is (ModelDenied if status in (403, 404) else ModelRefused)
    assert code in str(failure)
    assert "the provider's words" in str(failure)


@pytest.mark.parametrize("message", TOO_LONG)
async def test_what_is_too_long_is_overflow_before_a_stream_and_inside_it(message: str) -> None:
    assert type(await failure_of(Refusal(400, "ValidationException", message))) is ModelOverflow
    inside = plays([frames.start(), frames.exception("validationException", message)])
    assert type(await failure_of(inside)) is ModelOverflow


INSIDE = [
    ("internalServerException", ModelUnavailable),
    ("modelStreamErrorException", ModelUnavailable),
    ("serviceUnavailableException", ModelUnavailable),
    ("throttlingException", ModelUnavailable),
    ("validationException", ModelRefused),
]
BEGUN = [frames.start(), frames.delta(0, {"text": "half"}), *frames.call(1, "search", "{}")[:-1]]


async def check_ends(told: bytes, expected: type[Exception]) -> None:
    came: list[Chunk] = []
    assert type(await failure_of(plays([*BEGUN, told]), came)) is expected
    assert [chunk for chunk in came if isinstance(chunk, TextChunk | CallChunk)] == [TextChunk("half")]


@pytest.mark.parametrize(("kind", "expected"), [*INSIDE, ("exceptionOfTomorrow", ModelUnavailable)])
async def test_errors_inside_the_stream_end_it(kind: str, expected: type[Exception]) -> None:
    await check_ends(frames.exception(kind, "inside"), expected)


@pytest.mark.parametrize(("kind", "expected"), INSIDE)
async def test_errors_that_come_as_events_end_it_too(kind: str, expected: type[Exception]) -> None:
    await check_ends(frames.event(kind, {"message": "inside"}), expected)


async def test_an_error_that_the_service_does_not_know_ends_the_stream() -> None:
    told = frames.error("InternalFailure", "something broke")
    assert type(await failure_of(plays([frames.start(), told]))) is ModelUnavailable


async def test_long_errors_are_told_in_short() -> None:
    failure = await failure_of(Refusal(400, "ValidationException", "x" * 10_000))
    assert len(str(failure)) < 500


async def test_a_server_that_is_not_there_is_tried_again() -> None:
    async with ConverseServer() as server, asking(server) as model:
        await server.close()
        with pytest.raises(ModelUnavailable):
            await ask(model)


@pytest.mark.parametrize(
    ("environment", "missing"),
    [
        ({"AWS_REGION": "us-east-1"}, "credentials"),
        ({"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}, "region"),
        ({"AWS_REGION": "us-east-1", "AWS_PROFILE": "nobody"}, "nobody"),
    ],
)
async def test_whoever_has_no_credentials_is_told_what_to_do(
    environment: dict[str, str], missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_") and "EC2" not in name]:
        if not name.endswith("_FILE"):
            monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    clients = AsyncClients(AwsAccess.of(environment))
    with pytest.raises(ModelRefused, match=missing) as raised:
        await ask(BedrockModel("m.x", lambda: clients.open("bedrock-runtime")))
    assert "AWS_PROFILE" in str(raised.value)
    assert "AWS_REGION" in str(raised.value)
    await clients.close()


async def test_a_request_that_breaks_the_rules_is_not_sent() -> None:
    async with ConverseServer() as server, asking(server) as model:
        with pytest.raises(MalformedRequest):
            await ask(model, request(user(" ")))
        assert server.requests == []


async def test_the_model_is_a_model_port() -> None:
    async def never() -> Any:
        raise AssertionError

    port: Model = BedrockModel("anthropic.claude-opus-4-7", never)
    assert port.signs_reasoning
    assert not BedrockModel("openai.gpt-oss-120b-1:0", never).signs_reasoning
