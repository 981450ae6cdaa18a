"""What other providers' APIs do wrong: failures by their class, streams that end too soon, bytes of any kind."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.chunks import CallChunk, Chunk, Completed, ReasoningBlock
from core.errors import ModelDenied, ModelOverflow, ModelRefused, ModelUnavailable
from tests.wire import sse
from tests.wire.api_servers import AnthropicServer, OpenAiServer
from tests.wire.asking import ask, calls_of, text_of
from tests.wire.asking_apis import asking_api
from tests.wire.server import WireServer
from tests.wire.steps import Answer, Cut, Piece, Raw, Refusal, Stream, plays, split

SERVERS: dict[str, Callable[..., WireServer]] = {"openai": OpenAiServer, "anthropic": AnthropicServer}
WHOLE = {
    "openai": sse.chat(
        {"reasoning_content": "think"},
        {"content": "words"},
        *sse.chat_call(0, "search", '{"q": ', '"x"}'),
        *sse.chat_call(1, "search", "{}"),
        reason="tool_calls",
    ),
    "anthropic": sse.messages(
        sse.thinking(0, "think", signature="sig"),
        sse.text(1, "words"),
        sse.call(2, "search", '{"q": ', '"x"}'),
        sse.call(3, "search", "{}"),
        reason="tool_use",
    ),
}
BOTH = pytest.mark.parametrize("kind", list(SERVERS))


async def _asked(kind: str, *answers: Answer) -> list[Chunk]:
    async with SERVERS[kind](*answers) as server, asking_api(server) as model:
        return await ask(model, timeout_seconds=5)


async def _fails(kind: str, answer: Answer, expected: type[Exception]) -> list[Chunk]:
    """What came before it."""
    came: list[Chunk] = []
    async with SERVERS[kind](answer) as server, asking_api(server) as model:
        with pytest.raises(expected) as raised:
            await ask(model, timeout_seconds=5, into=came)
    assert raised.type is expected
    return came


@BOTH
async def test_a_whole_stream_in_single_bytes_is_the_same(kind: str) -> None:
    size = len(b"".join(WHOLE[kind]))
    chunks = await _asked(kind, split(WHOLE[kind], range(1, size)))
    assert text_of(chunks) == "words"
    assert calls_of(chunks) == [CallChunk("search", {"q": "x"}), CallChunk("search", {})]


@BOTH
async def test_cut_at_any_event_nothing_half_received_comes_out(kind: str) -> None:
    for number in range(1, len(WHOLE[kind])):
        for ending in ([Cut()], []):
            if kind == "openai" and number >= len(WHOLE[kind]) - 2 and not ending:
                continue  # the finish reason has come, and the stream has ended in good order
            if kind == "anthropic" and number == len(WHOLE[kind]) - 1 and not ending:
                continue
            answer = plays(WHOLE[kind][:number], *ending)
            came = await _fails(kind, answer, ModelUnavailable)
            assert not any(isinstance(chunk, CallChunk | Completed) for chunk in came)
            blocks = [chunk.text for chunk in came if isinstance(chunk, ReasoningBlock)]
            assert blocks in ([], ["think"])


async def test_calls_written_side_by_side_are_put_together() -> None:
    first, second = sse.chat_call(0, "search", '{"q": ', '"a"}'), sse.chat_call(1, "search", '{"q": ', '"b"}')
    mixed = [delta for pair in zip(first, second, strict=True) for delta in pair]
    chunks = await _asked("openai", plays(sse.chat(*mixed, reason="tool_calls")))
    assert calls_of(chunks) == [CallChunk("search", {"q": "a"}), CallChunk("search", {"q": "b"})]


@pytest.mark.parametrize(("reason", "arguments"), [("tool_calls", {}), ("length", "")])
async def test_a_call_without_arguments_has_none_only_if_the_model_stopped_for_it(
    reason: str, arguments: Any
) -> None:
    chunks = await _asked("openai", plays(sse.chat(*sse.chat_call(0, "search"), reason=reason)))
    assert calls_of(chunks) == [CallChunk("search", arguments)]


@BOTH
@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
async def test_what_may_work_later_is_unavailable(kind: str, status: int) -> None:
    await _fails(kind, Refusal(status, "error", "not now"), ModelUnavailable)


@BOTH
@pytest.mark.parametrize("status", [400, 402, 422])
async def test_what_never_works_is_refused(kind: str, status: int) -> None:
    await _fails(kind, Refusal(status, "error", "never"), ModelRefused)


@BOTH
@pytest.mark.parametrize("status", [401, 403, 404])
async def test_what_people_have_to_mend_is_denied_whatever_the_content(kind: str, status: int) -> None:
    await _fails(kind, Refusal(status, "error", "never"), ModelDenied)


@BOTH
@pytest.mark.parametrize(
    ("status", "message"),
    [
        (413, "too large"),
        (400, "the request exceeds the available context size, try increasing it"),
        (400, "This model's maximum context length is 4096 tokens"),
    ],
)
async def test_what_is_too_long_is_overflow(kind: str, status: int, message: str) -> None:
    await _fails(kind, Refusal(status, "invalid_request_error", message), ModelOverflow)


async def test_an_exhausted_quota_is_refused_though_it_looks_like_a_limit() -> None:
    await _fails("openai", Refusal(429, "insufficient_quota", "pay first"), ModelRefused)


@BOTH
async def test_an_error_inside_the_stream_ends_it(kind: str) -> None:
    failure = {
        "openai": sse.event({"error": {"message": "overloaded", "type": "server_error", "code": 503}}),
        "anthropic": sse.failure("overloaded_error", "busy"),
    }[kind]
    came = await _fails(kind, plays([*WHOLE[kind][:4], failure]), ModelUnavailable)
    assert calls_of(came) == []


@BOTH
@pytest.mark.parametrize("data", [b"", b"HTTP/1.1 200 OK\r\n\r\n", b"\x00\xff rubbish"])
async def test_what_is_no_answer_is_tried_again(kind: str, data: bytes) -> None:
    await _fails(kind, Raw(data), ModelUnavailable)


odd_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "delta", "index", "type", "content_block", "tool_calls", "message"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@BOTH
@settings(max_examples=40)
@given(
    piece=st.binary(max_size=60) | odd_json.map(lambda value: sse.event(json.dumps(value), "message_start"))
)
async def test_whatever_comes_in_the_middle_nothing_half_received_is_let_out(kind: str, piece: bytes) -> None:
    written = WHOLE[kind]
    async with (
        SERVERS[kind](Stream([Piece(one) for one in (*written[:4], piece)])) as server,
        asking_api(server) as model,
    ):
        came: list[Chunk] = []
        with pytest.raises((ModelUnavailable, ModelRefused)):
            await ask(model, timeout_seconds=5, into=came)
    assert not any(isinstance(chunk, CallChunk | Completed) for chunk in came)
