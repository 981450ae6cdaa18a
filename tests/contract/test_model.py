"""The contract of the model port (`core/ports.py`), over every model there is."""

import pytest

from core.chunks import CallChunk, Chunk, Completed, ReasoningBlock, TextChunk, Usage
from core.errors import MalformedRequest, ModelOverflow, ModelRefused, ModelUnavailable
from tests.contract.api_rigs import AnthropicRig, HostedOpenAiRig, OpenAiRig
from tests.contract.model_rigs import SLOWER_THAN_ANY_TIMEOUT, BedrockRig, ModelRig, ScriptedRig
from tests.wire.asking import ask, assistant, calls_of, end_of, request, text_of, user

RIGS: dict[str, type[ModelRig]] = {
    "scripted": ScriptedRig,
    "bedrock": BedrockRig,
    "anthropic": AnthropicRig,
    "openai": HostedOpenAiRig,
    "openai at a server of one's own": OpenAiRig,
}


@pytest.fixture(params=list(RIGS.values()), ids=list(RIGS))
def rig(request: pytest.FixtureRequest) -> ModelRig:
    made: ModelRig = request.param()
    return made


def blocks_of(chunks: list[Chunk]) -> list[ReasoningBlock]:
    return [chunk for chunk in chunks if isinstance(chunk, ReasoningBlock)]


def kinds_of(chunks: list[Chunk]) -> list[str]:
    """What makes the turn, repeats aside."""
    kept = [
        type(chunk).__name__ for chunk in chunks if isinstance(chunk, TextChunk | ReasoningBlock | CallChunk)
    ]
    return [kind for at, kind in enumerate(kept) if at == 0 or kept[at - 1] != kind]


async def test_text_comes_in_pieces_and_ends_in_one_end_marker(rig: ModelRig) -> None:
    async with rig.playing({"text": "A text that is longer than a piece. 🌊", "chunk_size": 4}) as model:
        chunks = await ask(model)
    assert text_of(chunks) == "A text that is longer than a piece. 🌊"
    assert len(chunks) > 5
    assert end_of(chunks).stop_reason == "end_turn"


@pytest.mark.parametrize("rig", [one for one in RIGS.values() if one.signs_reasoning], indirect=True)
async def test_reasoning_text_and_calls_come_in_that_order_each_whole(rig: ModelRig) -> None:
    reply = {
        "reasoning": [
            {"text": "one", "signature": "s1"},
            {"redacted": "AP8="},
            {"text": "two", "signature": "s2"},
        ],
        "text": "So.",
        "tool_calls": [{"name": "search", "args": {"q": "x"}}, {"name": "search", "args": {"q": "y"}}],
    }
    async with rig.playing(reply) as model:
        chunks = await ask(model)
    assert kinds_of(chunks) == ["ReasoningBlock", "TextChunk", "CallChunk"]
    assert blocks_of(chunks) == [
        ReasoningBlock("one", "s1", None, "bedrock:m"),
        ReasoningBlock("", None, "AP8=", "bedrock:m"),
        ReasoningBlock("two", "s2", None, "bedrock:m"),
    ]
    assert calls_of(chunks) == [CallChunk("search", {"q": "x"}), CallChunk("search", {"q": "y"})]
    assert end_of(chunks).stop_reason == "tool_use"


@pytest.mark.parametrize("rig", [one for one in RIGS.values() if not one.signs_reasoning], indirect=True)
async def test_reasoning_that_nobody_signs_comes_whole_before_what_follows(rig: ModelRig) -> None:
    reply = {"reasoning": {"text": "one two three"}, "tool_calls": [{"name": "search", "args": {"q": "x"}}]}
    async with rig.playing(reply) as model:
        chunks = await ask(model)
    assert kinds_of(chunks) == ["ReasoningBlock", "CallChunk"]
    assert blocks_of(chunks) == [ReasoningBlock("one two three", None, None, "bedrock:m")]


@pytest.mark.parametrize("raw", ['{"q": "cut', "[1, 2]", "no json", '"text"', '{"a": NaN}'])
async def test_arguments_that_are_no_object_come_as_their_text(rig: ModelRig, raw: str) -> None:
    async with rig.playing({"tool_calls": [{"name": "search", "raw_args": raw}]}) as model:
        assert calls_of(await ask(model)) == [CallChunk("search", raw)]


async def test_a_reply_may_be_empty(rig: ModelRig) -> None:
    async with rig.playing({"text": ""}) as model:
        assert kinds_of(await ask(model)) == []


async def test_a_stop_reason_nobody_knows_is_passed_on(rig: ModelRig) -> None:
    async with rig.playing({"text": "x", "stop_reason": "of_tomorrow"}) as model:
        assert end_of(await ask(model)).stop_reason == "of_tomorrow"


async def test_usage_counts_cached_tokens_among_the_input(rig: ModelRig) -> None:
    usage = {"input_tokens": 100, "output_tokens": 7, "cached_tokens": 90}
    async with rig.playing({"text": "x", "usage": usage}) as model:
        assert end_of(await ask(model)).usage == Usage(**usage)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("throttled", ModelUnavailable),
        ("server", ModelUnavailable),
        ("disconnect", ModelUnavailable),
        ("overflow", ModelOverflow),
        ("invalid", ModelRefused),
    ],
)
async def test_a_failure_is_told_by_its_class_and_nothing_half_received_comes_before_it(
    rig: ModelRig, error: str, expected: type[Exception]
) -> None:
    reply = {"text": "half an answer", "tool_calls": [{"name": "search"}], "error": error}
    came: list[Chunk] = []
    async with rig.playing(reply) as model:
        with pytest.raises(expected) as raised:
            await ask(model, into=came)
    assert raised.type is expected
    assert text_of(came) == ("half an answer" if error == "disconnect" else "")
    assert not any(isinstance(chunk, CallChunk | Completed) for chunk in came)


async def test_a_model_that_is_too_slow_for_the_time_left_is_unavailable(rig: ModelRig) -> None:
    async with rig.playing({"text": "too late", "delay_ms": SLOWER_THAN_ANY_TIMEOUT}) as model:
        with pytest.raises(ModelUnavailable):
            await ask(model, timeout_seconds=0.1)


async def test_a_request_that_breaks_the_rules_is_never_sent(rig: ModelRig) -> None:
    async with rig.playing() as model:
        with pytest.raises(MalformedRequest):
            await ask(model, request(user("hi"), assistant("the last word")))


async def test_a_stream_may_be_left_and_the_next_is_whole(rig: ModelRig) -> None:
    async with rig.playing({"text": "one two three four"}, {"text": "next"}) as model:
        stream = model.stream(request(), timeout_seconds=20)
        await anext(stream)
        await stream.aclose()
        assert text_of(await ask(model, request(user("a"), assistant("b"), user("c")))) == "next"


async def test_a_model_says_whether_it_signs_its_reasoning(rig: ModelRig) -> None:
    async with rig.playing() as model:
        assert model.signs_reasoning == rig.signs_reasoning
