"""How a scripted model fails: by its script, by the clock, by its window, and by a request that must not be sent."""

import pytest

from core.chunks import Chunk, TextChunk
from core.errors import MalformedRequest, ModelOverflow, ModelRefused, ModelUnavailable, TorporError
from tests.unit.scripted.playing import SleepingClock, assistant, model, request, stream, text_of, user

ASKED = request(user("hi"))


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        ("throttled", ModelUnavailable),
        ("server", ModelUnavailable),
        ("disconnect", ModelUnavailable),
        ("overflow", ModelOverflow),
        ("invalid", ModelRefused),
    ],
)
async def test_errors_by_name(error: str, raised: type[TorporError]) -> None:
    with pytest.raises(raised) as caught:
        await stream(model(({}, {"error": error})), ASKED)
    assert type(caught.value) is raised


@pytest.mark.parametrize(("error", "shown"), [("disconnect", "half an"), ("throttled", "")])
async def test_only_a_disconnect_shows_the_text_so_far(error: str, shown: str) -> None:
    chunks: list[Chunk] = []
    reply = {"text": "half an", "tool_calls": [{"name": "search"}], "error": error}
    with pytest.raises(ModelUnavailable):
        await stream(model(({}, reply)), ASKED, into=chunks)
    assert text_of(chunks) == shown
    assert all(isinstance(chunk, TextChunk) for chunk in chunks)


async def test_another_attempt_may_meet_another_rule() -> None:
    played = model(({"attempt": 1}, {"error": "throttled"}), ({}, {"text": "ok"}))
    with pytest.raises(ModelUnavailable):
        await stream(played, ASKED)
    assert text_of(await stream(played, request(user("hi"), attempt=2))) == "ok"


async def test_the_delay_comes_before_each_piece_by_the_clock() -> None:
    clock = SleepingClock()
    await stream(model(({}, {"text": "abcd", "chunk_size": 2, "delay_ms": 500}), clock=clock), ASKED)
    assert clock.slept_seconds == [0.5, 0.5]


async def test_the_delay_comes_before_an_empty_reply_and_an_error_too() -> None:
    clock = SleepingClock()
    await stream(model(({}, {"delay_ms": 250}), clock=clock), ASKED)
    with pytest.raises(ModelUnavailable):
        await stream(model(({}, {"delay_ms": 250, "error": "server"}), clock=clock), ASKED)
    assert clock.slept_seconds == [0.25, 0.25]


async def test_too_slow_ends_at_the_time_given_and_not_later() -> None:
    clock = SleepingClock()
    slow = model(({}, {"text": "abcdef", "chunk_size": 2, "delay_ms": 1_000}), clock=clock)
    with pytest.raises(ModelUnavailable):
        await stream(slow, ASKED, timeout_seconds=2.5)
    assert clock.slept_seconds == [1, 1, 0.5]


async def test_a_conversation_larger_than_the_window_overflows() -> None:
    played = model(({}, {"text": "fits"}), context_window=10)
    assert text_of(await stream(played, request(user("x" * 40)))) == "fits"
    with pytest.raises(ModelOverflow):
        await stream(played, request(user("x" * 41)))


async def test_a_malformed_request_fails_loudly_before_any_rule() -> None:
    with pytest.raises(MalformedRequest):
        await stream(model(({}, {"text": "never"})), request(user("hi"), assistant("there")))
