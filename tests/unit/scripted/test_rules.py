"""When a rule holds: each key of `when`, their conjunction, and the order of rules."""

from typing import Any

import pytest

from core.blocks import ImageBlock, TextBlock
from core.errors import ModelRefused
from core.request import ModelRequest, RequestMessage
from tests.unit.scripted.playing import (
    assistant,
    calls,
    event,
    model,
    reply_text,
    request,
    results,
    stream,
    user,
)

ASKED = request(user("Weather in Oslo?"))
ANSWERED = request(
    user("Weather?"),
    calls("weather", "search", city="Bergen"),
    results(("weather", "rain"), ("search", {"hits": 3})),
)
IMAGE = ImageBlock(media_type="image/png", data="aGk=")

HOLDS: list[tuple[ModelRequest, dict[str, Any]]] = [
    (ASKED, {}),
    (ASKED, {"user": "(?i)weather in (\\w+)"}),
    (request(user("old"), assistant("…"), user("new")), {"user": "^new$"}),
    (request(RequestMessage("user", (TextBlock(text="one"), TextBlock(text="two")))), {"user": "^two$"}),
    (request(RequestMessage("user", (TextBlock(text="look"), IMAGE))), {"user": "^look$"}),
    (
        request(user("a"), calls("search"), results(("search", "x"), then="stop")),
        {"user": "^stop$", "tool_result": "search"},
    ),
    (ANSWERED, {"tool_result": "weather"}),
    (ANSWERED, {"tool_result": "search", "result": '"hits": 3'}),
    (ANSWERED, {"result": "^rain$"}),
    (ANSWERED, {"contains": "Bergen"}),
    (ANSWERED, {"contains": "^Weather"}),
    (ANSWERED, {"contains": "hits"}),
    (request(user("a"), *event("price 3", name="watch")), {"event": "price (\\d)"}),
    (request(user("a"), *event("price 3", name="watch")), {"event": "watch"}),
    (request(user("a"), *event("price 3", name="watch")), {"event": True, "turns": 0}),
    (ASKED, {"event": False}),
    (request(user("a"), thread_stack=("r",)), {"depth": 0}),
    (request(user("a"), thread_stack=("r", "r~1", "r~2")), {"depth": 2}),
    (ASKED, {"turns": 0, "compaction": False, "attempt": 1}),
    (ANSWERED, {"turns": 1}),
    (request(user("a"), compaction=True), {"compaction": True}),
    (request(user("a"), attempt=3), {"attempt": 3}),
]

FAILS: list[tuple[ModelRequest, dict[str, Any]]] = [
    (ASKED, {"user": "Bergen"}),
    (ASKED, {"tool_result": "weather"}),
    (ASKED, {"result": ""}),
    (ASKED, {"event": ""}),
    (ASKED, {"event": True}),
    (ASKED, {"user": "Oslo", "turns": 1}),
    (ANSWERED, {"user": "Weather"}),
    (ANSWERED, {"tool_result": "weath"}),
    (ANSWERED, {"tool_result": "search", "result": "rain"}),
    (ANSWERED, {"contains": "Oslo"}),
    (ANSWERED, {"event": True}),
    (request(user("old"), assistant("…"), RequestMessage("user", (IMAGE,))), {"user": "old"}),
    (request(*ANSWERED.messages, assistant("…"), user("so?")), {"tool_result": "weather"}),
    (request(user("a"), *event("price 3"), assistant("…"), user("so?")), {"event": True}),
    (ASKED, {"depth": 1}),
    (ASKED, {"compaction": True}),
    (ASKED, {"attempt": 2}),
]


@pytest.mark.parametrize(("asked", "when"), HOLDS)
async def test_holds(asked: ModelRequest, when: dict[str, Any]) -> None:
    assert await reply_text(asked, when) == "0"


@pytest.mark.parametrize(("asked", "when"), FAILS)
async def test_fails(asked: ModelRequest, when: dict[str, Any]) -> None:
    assert await reply_text(asked, when) == "none"


async def test_the_first_rule_that_holds_answers() -> None:
    assert await reply_text(ASKED, {"turns": 7}, {"user": "Oslo"}, {"user": "Weather"}) == "1"


async def test_no_rule_is_refused_for_good() -> None:
    with pytest.raises(ModelRefused):
        await stream(model(({"turns": 7}, {"text": "never"})), ASKED)
