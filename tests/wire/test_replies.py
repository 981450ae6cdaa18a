"""What a model may answer, over the real client: every shape of block, usage and stop reason."""

import base64

import pytest

from core.chunks import (
    ArgumentsDelta,
    CallChunk,
    Chunk,
    Completed,
    ReasoningBlock,
    ReasoningDelta,
    TextChunk,
    Usage,
)
from tests.wire import frames
from tests.wire.asking import ask, asking, calls_of, end_of, text_of
from tests.wire.server import ConverseServer
from tests.wire.steps import plays, split

MEASURED = Usage(input_tokens=10, output_tokens=5)


async def reply(*parts: list[bytes], reason: str = "end_turn", **usage: int) -> list[Chunk]:
    """What a reply of these blocks comes to."""
    async with (
        ConverseServer(plays(frames.message(*parts, reason=reason, **usage))) as server,
        asking(server) as model,
    ):
        return await ask(model)


async def test_text_comes_as_it_is_written() -> None:
    chunks = await reply(frames.text(0, "Hel", "lo, ", "wörld ", "🌊"))
    assert chunks == [*map(TextChunk, ("Hel", "lo, ", "wörld ", "🌊")), Completed("end_turn", MEASURED)]


async def test_several_text_blocks_stay_in_order() -> None:
    assert text_of(await reply(frames.text(0, "a"), frames.text(1, "b"), frames.text(2, "c"))) == "abc"


async def test_reasoning_is_shown_as_thought_and_kept_whole_with_its_signature() -> None:
    chunks = await reply(
        frames.reasoning(0, "Let me ", "see.", signature=["si", "gn"]), frames.text(1, "Yes.")
    )
    assert chunks == [
        ReasoningDelta("Let me "),
        ReasoningDelta("see."),
        ReasoningBlock("Let me see.", "sign", None, "bedrock:m"),
        TextChunk("Yes."),
        Completed("end_turn", MEASURED),
    ]


async def test_several_reasoning_blocks_are_kept_apart_and_in_order() -> None:
    chunks = await reply(
        frames.reasoning(0, "one", signature=["s1"]),
        frames.reasoning(1, redacted=[b"\x00\xff", b"more"]),
        frames.reasoning(2, signature=["s3"]),
        frames.text(3, "done"),
    )
    assert [chunk for chunk in chunks if isinstance(chunk, ReasoningBlock)] == [
        ReasoningBlock("one", "s1", None, "bedrock:m"),
        ReasoningBlock("", None, base64.b64encode(b"\x00\xffmore").decode(), "bedrock:m"),
        ReasoningBlock("", "s3", None, "bedrock:m"),
    ]


async def test_a_call_is_whole_when_its_block_ends() -> None:
    chunks = await reply(
        frames.call(0, "search", '{"q": "tid', 'es", "n": [1, 2.5, null]}'), reason="tool_use"
    )
    assert chunks == [
        ArgumentsDelta("search", '{"q": "tid'),
        ArgumentsDelta("search", 'es", "n": [1, 2.5, null]}'),
        CallChunk("search", {"q": "tides", "n": [1, 2.5, None]}),
        Completed("tool_use", MEASURED),
    ]


async def test_several_calls_with_text_before_between_and_after_keep_their_order() -> None:
    chunks = await reply(
        frames.text(0, "a"),
        frames.call(1, "search", '{"q": 1}', use_id="tooluse_0"),
        frames.text(2, "b"),
        frames.call(3, "search", '{"q": 2}', use_id="tooluse_0"),
        frames.text(4, "c"),
        reason="tool_use",
    )
    kept = [chunk for chunk in chunks if isinstance(chunk, TextChunk | CallChunk)]
    assert kept == [
        TextChunk("a"),
        CallChunk("search", {"q": 1}),
        TextChunk("b"),
        CallChunk("search", {"q": 2}),
        TextChunk("c"),
    ]


@pytest.mark.parametrize(
    "text", ['{"q": "cut', "[1]", '"text"', "12", "null", "NaN", '{"a": NaN}', "{} {}", "{" * 5000]
)
async def test_arguments_that_are_no_json_object_stay_text(text: str) -> None:
    assert calls_of(await reply(frames.call(0, "search", text), reason="tool_use")) == [
        CallChunk("search", text)
    ]


@pytest.mark.parametrize("pieces", [(), ("",), (" ", "\n")])
async def test_a_call_without_any_arguments_takes_none_when_the_model_stopped_for_it(
    pieces: tuple[str, ...],
) -> None:
    chunks = await reply(frames.call(0, "search", *pieces), frames.text(1, "after"), reason="tool_use")
    assert calls_of(chunks) == [CallChunk("search", {})]
    assert [type(chunk) for chunk in chunks[-3:]] == [CallChunk, TextChunk, Completed]


@pytest.mark.parametrize("reason", ["max_tokens", "end_turn", "guardrail_intervened", "of_tomorrow"])
async def test_a_call_without_any_arguments_may_have_been_cut_when_the_model_stopped_for_another_reason(
    reason: str,
) -> None:
    assert calls_of(await reply(frames.call(0, "search"), reason=reason)) == [CallChunk("search", "")]


@pytest.mark.parametrize(
    "reason",
    [
        "end_turn",
        "tool_use",
        "max_tokens",
        "stop_sequence",
        "guardrail_intervened",
        "content_filtered",
        "model_context_window_exceeded",
        "a_reason_of_tomorrow",
    ],
)
async def test_every_stop_reason_is_passed_on_and_decides_nothing(reason: str) -> None:
    chunks = await reply(frames.text(0, "said"), reason=reason)
    assert (text_of(chunks), end_of(chunks).stop_reason) == ("said", reason)


@pytest.mark.parametrize("parts", [[], [frames.text(0)], [frames.text(0, "")]])
async def test_a_reply_of_nothing_is_a_reply(parts: list[list[bytes]]) -> None:
    chunks = await reply(*parts)
    assert (text_of(chunks), end_of(chunks).usage) == ("", MEASURED)


async def test_cached_tokens_are_among_the_input_tokens() -> None:
    chunks = await reply(frames.text(0, "x"), cacheReadInputTokens=300, cacheWriteInputTokens=20)
    assert end_of(chunks).usage == Usage(input_tokens=330, output_tokens=5, cached_tokens=300)


async def test_a_turn_that_was_not_measured_is_still_a_turn() -> None:
    async with ConverseServer(plays(frames.says("x")[:-1])) as server, asking(server) as model:
        assert end_of(await ask(model)) == Completed("end_turn", Usage())


async def test_events_and_deltas_nobody_knows_are_passed_over() -> None:
    unknown = [
        frames.event("eventOfTomorrow", {"a": 1}),
        frames.delta(0, {"kindOfTomorrow": {"a": 1}}),
        frames.delta(0, {"citation": {"title": "t"}}),
    ]
    begin, *rest = frames.says("x")
    async with ConverseServer(plays([begin, *unknown, *rest])) as server, asking(server) as model:
        assert text_of(await ask(model)) == "x"


async def test_a_reply_in_single_bytes_is_the_same_reply() -> None:
    written = frames.message(
        frames.reasoning(0, "hm", signature=["s"]),
        frames.text(1, "wörld 🌊"),
        frames.call(2, "search", '{"q": "tides"}'),
        reason="tool_use",
    )
    size = len(b"".join(written))
    async with (
        ConverseServer(plays(written), split(written, range(size))) as server,
        asking(server) as model,
    ):
        assert await ask(model) == await ask(model)
