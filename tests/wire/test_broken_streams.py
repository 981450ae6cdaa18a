"""A stream that is cut, damaged, stalled or against the protocol: try again later, and nothing half-received."""

import asyncio
from collections.abc import Iterable, Iterator
from itertools import accumulate, repeat

import pytest

from core.chunks import CallChunk, Chunk, Completed, ReasoningBlock, TextChunk
from core.errors import ModelUnavailable
from tests.wire import frames
from tests.wire.asking import ask, asking, request, text_of
from tests.wire.server import ConverseServer
from tests.wire.steps import Answer, Cut, Hold, Piece, Raw, Silence, Stall, Stream, first, plays

REPLY = frames.message(
    frames.reasoning(0, "Let me see.", signature=["sig"]),
    frames.text(1, "Looking ", "it up."),
    frames.call(2, "search", '{"q": "tid', 'es"}'),
    frames.call(3, "search", '{"q": "moon"}'),
    reason="tool_use",
)
WHOLE = [
    ReasoningBlock("Let me see.", "sig", None, "bedrock:m"),
    TextChunk("Looking "),
    TextChunk("it up."),
    CallChunk("search", {"q": "tides"}),
    CallChunk("search", {"q": "moon"}),
]
ENDS = list(accumulate(map(len, REPLY)))
"""Where each frame ends."""


def interesting(end: int, frame: bytes) -> Iterator[int]:
    """Byte positions inside a frame: its length, its prelude, its headers, its payload, its checksum."""
    begin = end - len(frame)
    yield from (
        begin + 1,
        begin + 6,
        begin + 8,
        begin + 12,
        begin + 20,
        end - len(frame) // 3,
        end - 4,
        end - 1,
    )


WITHIN = sorted({at for end, frame in zip(ENDS, REPLY, strict=True) for at in interesting(end, frame)})


def kept(chunks: list[Chunk]) -> list[Chunk]:
    return [chunk for chunk in chunks if isinstance(chunk, TextChunk | ReasoningBlock | CallChunk)]


async def broken(answers: Iterable[Answer]) -> list[list[Chunk]]:
    """What came of each answer before it was given up. Each must be."""
    played, came = list(answers), list[list[Chunk]]()
    async with ConverseServer(*played) as server, asking(server) as model:
        for _ in played:
            chunks: list[Chunk] = []
            with pytest.raises(ModelUnavailable):
                await ask(model, into=chunks)
            came.append(chunks)
    return came


def check_nothing_half(came: list[list[Chunk]]) -> None:
    for chunks in came:
        assert not any(isinstance(chunk, Completed) for chunk in chunks)
        assert kept(chunks) == WHOLE[: len(kept(chunks))]


async def test_cut_at_any_frame_nothing_half_received_comes_out() -> None:
    came = await broken(first(REPLY, end, Cut()) for end in [0, *ENDS[:-1]])
    check_nothing_half(came)
    assert [len(kept(chunks)) for chunks in came] == sorted(len(kept(chunks)) for chunks in came)
    assert len(kept(came[-1])) == len(WHOLE)


async def test_cut_inside_any_frame_nothing_half_received_comes_out() -> None:
    check_nothing_half(await broken(first(REPLY, at, Cut()) for at in WITHIN))


async def test_a_stream_that_ends_in_good_order_but_too_soon_was_cut() -> None:
    before_the_stop = ENDS[:-2]
    check_nothing_half(await broken(first(REPLY, end) for end in [0, *before_the_stop]))
    check_nothing_half(await broken(first(REPLY, at) for at in WITHIN if at < ENDS[-3]))


async def test_a_flipped_bit_is_noticed_wherever_it_is() -> None:
    data = b"".join(REPLY)

    def flipped(at: int) -> Stream:
        return Stream([Piece(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])])

    check_nothing_half(await broken(flipped(at) for at in range(0, ENDS[-2], 31)))


@pytest.mark.parametrize(
    "data", [b"", b"HTTP/1.1 200 OK\r\n", b"no http at all\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n<html>"]
)
async def test_what_is_no_answer_is_tried_again(data: bytes) -> None:
    assert await broken([Raw(data)]) == [[]]


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([frames.delta(0, {"toolUse": {"input": "{}"}})], id="arguments without a call"),
        pytest.param(frames.call(0, "search", "{}")[:-1], id="stopped inside a call"),
        pytest.param(frames.reasoning(0, "hm")[:-1], id="stopped inside reasoning"),
        pytest.param(
            [frames.call(0, "search", "{")[0], *frames.call(0, "search", "}")], id="a call in a call"
        ),
        pytest.param([frames.call(0, "search", "{}")[0], *frames.text(0, "x")], id="text in a call"),
        pytest.param([frames.delta(0, {"text": 5})], id="a number for text"),
        pytest.param([frames.delta(0, {"toolUse": {"input": None}, "text": "x"})], id="two kinds in one"),
        pytest.param([frames.delta(0, {"reasoningContent": {"redactedContent": "?"}})], id="no base64"),
        pytest.param([frames.event("contentBlockDelta", [1, 2])], id="no object"),
        pytest.param([frames.stop("end_turn"), *frames.text(0, "x")], id="text after the stop"),
        pytest.param([frames.stop("end_turn")], id="two stops"),
        pytest.param([frames.event("contentBlockDelta", {"delta": {"text": "x"}})], id="text of no block"),
        pytest.param([frames.block_start(0, {"toolUse": {"toolUseId": "t"}})], id="a call without a name"),
    ],
)
async def test_what_breaks_the_protocol_was_cut(parts: list[bytes]) -> None:
    ((came),) = await broken([plays(frames.message(parts))])
    assert not any(isinstance(chunk, CallChunk | Completed) for chunk in came)


DELTA = {":event-type": "contentBlockDelta", ":content-type": "application/json", ":message-type": "event"}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x00" * 200, id="zeros"),
        pytest.param(b"{}" * 100, id="json without frames"),
        pytest.param(frames.framed(b"\x01a\x63\x00", b"{}"), id="a header of an unknown type"),
        pytest.param(frames.framed(b"\x05a", b"{}"), id="a header that is cut"),
        pytest.param(frames.framed(b"\x01\xff\x07\x00\x01\xff", b"{}"), id="a header that is no text"),
        pytest.param(frames.frame(DELTA, b"\xff\xfe"), id="a payload that is no text"),
        pytest.param(frames.frame(DELTA, b"{"), id="a payload that is no json"),
        pytest.param(frames.frame(DELTA, b""), id="no payload"),
        pytest.param(frames.frame(DELTA, b"[" * 100_000), id="a payload nested for ever"),
        pytest.param(frames.frame({}, b"{}"), id="no headers"),
    ],
)
async def test_whatever_bytes_come_the_turn_is_lost_and_nothing_else(data: bytes) -> None:
    check_nothing_half(await broken([first([data], len(data)), first([*REPLY[:4], data], 10**6)]))


async def test_text_whose_end_was_not_told_is_whole() -> None:
    untold = frames.message(frames.text(0, "x")[:-1], frames.text(1, "y")[:-1])
    async with ConverseServer(plays(untold)) as server, asking(server) as model:
        assert text_of(await ask(model)) == "xy"


async def test_what_has_come_is_seen_before_the_rest_comes() -> None:
    hold = Hold()
    begin, rest = frames.says("first ", "then")[:2], frames.says("first ", "then")[2:]
    answer = Stream([*map(Piece, begin), hold, *map(Piece, rest)])
    async with ConverseServer(answer) as server, asking(server) as model:
        chunks: list[Chunk] = []
        asked = asyncio.ensure_future(ask(model, into=chunks))
        await hold.reached.wait()
        while not chunks:
            await asyncio.wait([asked], timeout=0.001)
        assert (chunks, asked.done()) == ([TextChunk("first ")], False)
        hold.go_on.set()
        assert text_of(await asked) == "first then"


@pytest.mark.parametrize("size", [0, ENDS[0], ENDS[4], ENDS[-2]])
async def test_a_stream_that_stalls_ends_with_the_time_there_is(size: int) -> None:
    async with ConverseServer(first(REPLY, size, Stall())) as server, asking(server) as model:
        chunks: list[Chunk] = []
        with pytest.raises(ModelUnavailable, match="too slow"):
            await ask(model, timeout_seconds=0.2, into=chunks)
        check_nothing_half([chunks])


async def test_a_turn_that_is_whole_does_not_wait_for_a_connection_that_stays_open() -> None:
    async with ConverseServer(plays(REPLY, Stall())) as server, asking(server) as model:
        assert kept(await ask(model, timeout_seconds=0.2)) == WHOLE


async def test_a_stream_that_drips_for_ever_ends_with_the_time_there_is() -> None:
    drip = repeat(Piece(frames.delta(0, {"text": "drip "})))
    async with ConverseServer(Stream(drip)) as server, asking(server) as model:
        with pytest.raises(ModelUnavailable, match="too slow"):
            await ask(model, timeout_seconds=0.2)


async def test_an_answer_that_never_begins_ends_with_the_time_there_is() -> None:
    async with ConverseServer(Silence()) as server, asking(server) as model:
        with pytest.raises(ModelUnavailable, match="too slow"):
            await ask(model, timeout_seconds=0.2)


async def test_an_abandoned_stream_is_closed_and_the_next_one_is_whole() -> None:
    answers = [first(REPLY, ENDS[6], Stall()), plays(REPLY)]
    async with ConverseServer(*answers) as server, asking(server) as model:
        stream = model.stream(request(), timeout_seconds=20)
        await anext(stream)
        await stream.aclose()
        await server.idle()
        assert kept(await ask(model)) == WHOLE


async def test_two_streams_at_once_do_not_mix() -> None:
    hold = Hold()
    slow = Stream(
        [*map(Piece, frames.says("one ", "two")[:2]), hold, *map(Piece, frames.says("one ", "two")[2:])]
    )
    async with ConverseServer(slow, plays(frames.says("other"))) as server, asking(server) as model:
        first_one = asyncio.ensure_future(ask(model))
        await hold.reached.wait()
        assert text_of(await ask(model)) == "other"
        hold.go_on.set()
        assert text_of(await first_one) == "one two"
