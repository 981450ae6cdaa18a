"""What tools return, of every kind: the model is shown it over the wire, or told what is wrong, and goes on."""

import base64
import dataclasses
import math
from typing import Any

import pytest
from pydantic import BaseModel

from core.blocks import DocumentBlock, ImageBlock
from core.tools import ToolResult
from tests.support.inputs import user
from tests.wire import frames
from tests.wire.asking import CLAUDE, NOVA, UNKNOWN
from tests.wire.steps import plays
from tests.wire.taking import talk

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(4) + b"IHDR" + (64).to_bytes(4, "big") * 2).decode()


class Weather(BaseModel):
    degrees: float


@dataclasses.dataclass
class Place:
    name: str
    weather: Weather


RESULTS: dict[str, tuple[Any, str]] = {
    "text": ("words", "words"),
    "blank text": (" \n", "(no output)"),
    "an object": ({"a": [1]}, "{'a': [1]}"),
    "a list": ([1, {"a": None}], '[1, {"a": null}]'),
    "a number": (0.1, "0.1"),
    "a large number": (2**63, str(2**63)),
    "nothing": (None, "null"),
    "not a number": (math.nan, "NaN"),
    "infinities in an object": ({"up": math.inf}, "Infinity"),
    "bytes": (b"raw", "bytes"),
    "a set": ({1}, "set"),
    "an object of no kind": (object(), "object"),
    "a pydantic model": (Weather(degrees=math.nan), "NaN"),
    "a dataclass": (Place("Oslo", Weather(degrees=1)), "Oslo"),
    "ten megabytes": ("x" * 10_000_000, "more characters are stored but not shown"),
    "ten megabytes of JSON": ({"x": ["y" * 100] * 100_000}, "more characters are stored but not shown"),
    "an error of the tool's own": (ToolResult("broken", is_error=True), "broken"),
    "a broken image": (ImageBlock(media_type="image/png", data="AAAA"), "was left out"),
    "a document of no known type": (
        DocumentBlock(media_type="x/y", name="a  b", data="AAAA"),
        "document a b not shown",
    ),
}


HUGE = ("ten megabytes", "ten megabytes of JSON")


@pytest.mark.parametrize("model_id", [CLAUDE, NOVA, UNKNOWN], ids=["claude", "nova", "unknown"])
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] if kind in HUGE else []) for kind in RESULTS]
)
async def test_a_result_of_any_kind_is_shown_or_told_and_the_next_message_is_answered(
    kind: str, model_id: str
) -> None:
    returned, shown = RESULTS[kind]
    async with talk(model_id, returned) as (one, server):
        call = frames.call(0, "take", '{"value": 1}')
        server.play(plays(frames.message(call, reason="tool_use")))
        await one.run(user("go"))
        sent = str(server.requests[-1].messages[-1]["content"])
        assert shown in sent or "not shown: this model takes no" in sent
        assert len(sent) < 250_000
        await one.goes_on()


async def test_an_image_is_shown_where_the_model_takes_one_from_a_tool_and_told_where_it_does_not() -> None:
    for model_id, kind in ((CLAUDE, "image"), (UNKNOWN, "text")):
        async with talk(model_id, ImageBlock(media_type="image/png", data=PNG)) as (one, server):
            server.play(plays(frames.message(frames.call(0, "take", '{"value": 1}'), reason="tool_use")))
            await one.run(user("go"))
            (block,) = server.requests[-1].messages[-1]["content"][0]["toolResult"]["content"]
            assert list(block) == [kind]
            await one.goes_on()
