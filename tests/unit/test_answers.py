"""A result is answered whole if a queue can carry it; else what fits, and a text that says how much is missing."""

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.answers import MAX_ANSWER_BYTES, answer, recorded
from core.blocks import ImageBlock, JsonBlock, TextBlock
from core.messages import Envelope, ToolResultMessage
from core.parsing import parse_input
from core.sources import Source
from core.tools import ToolResult
from core.work_messages import ToolCallMessage

CALL = ToolCallMessage(
    type="tool_call",
    thread_id="t1",
    call_id="call_1",
    name="search",
    args={},
    deadline=datetime(2025, 1, 1, tzinfo=UTC),
)


def message_of(result: ToolResult) -> ToolResultMessage:
    """What the agent reads of the answer."""
    sent = answer(CALL, recorded(CALL, result))
    assert len(sent.body.encode()) <= MAX_ANSWER_BYTES
    message = parse_input(sent.body, Envelope("sqs-id", group=sent.group)).message
    assert isinstance(message, ToolResultMessage)
    return message


def test_a_result_that_fits_goes_whole() -> None:
    result = ToolResult(
        [TextBlock(text="ä"), JsonBlock(data={"a": 1})],
        subscription=True,
        sources=[Source(url="https://example.org", title="E")],
        state_patch={"seen": None},
    )
    message = message_of(result)
    assert (message.content, message.subscription) == (result.content, True)
    assert (message.sources, message.state_patch) == (result.sources, {"seen": None})


def test_the_ids_depend_on_the_call_alone() -> None:
    first, second = (answer(CALL, recorded(CALL, ToolResult(text))) for text in ("a", "b"))
    assert first.id == second.id
    assert json.loads(first.body)["message_id"] == json.loads(second.body)["message_id"]
    elsewhere = CALL.model_copy(update={"thread_id": "t2"})
    assert answer(elsewhere, recorded(elsewhere, ToolResult("a"))).id != first.id


@pytest.mark.parametrize("character", ["x", "ä", "\U0001f600", '"'], ids=ascii)
def test_a_long_text_is_cut_as_late_as_possible_and_says_so(character: str) -> None:
    message = message_of(ToolResult([TextBlock(text="first"), TextBlock(text=character * 2_000_000)]))
    first, cut, note = message.content
    assert isinstance(cut, TextBlock)
    assert isinstance(note, TextBlock)
    assert first == TextBlock(text="first")
    assert set(cut.text) == {character}
    escaped_bytes = len(json.dumps(character)) - 2
    assert len(cut.text) * escaped_bytes > MAX_ANSWER_BYTES - 1_000
    numbers = [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]+", note.text)]
    assert max(numbers) > 2_000_000 * escaped_bytes


def test_large_json_becomes_the_beginning_of_its_text_and_later_blocks_are_left_out() -> None:
    data: Any = {"rows": ["x" * 100] * 20_000}
    image = ImageBlock(media_type="image/png", data="A" * 2_000_000)
    cut, note = message_of(ToolResult([JsonBlock(data=data), image])).content
    assert isinstance(cut, TextBlock)
    assert cut.text.startswith('{"rows":["xxx')
    assert isinstance(note, TextBlock)
    assert [type(block) for block in message_of(ToolResult([image])).content] == [TextBlock]


def test_many_sources_are_cut_and_a_huge_state_patch_is_an_error() -> None:
    sources = [
        Source(url=f"https://example.org/{n}", title="t" * 500, snippet="s" * 2_000) for n in range(1_000)
    ]
    kept = message_of(ToolResult("text", sources=sources))
    assert 50 < len(kept.sources) < 1_000
    assert kept.content[0] == TextBlock(text="text")
    refused = message_of(ToolResult("text", state_patch={"a": "x" * 2_000_000}))
    assert refused.is_error
    assert refused.state_patch is None


@settings(max_examples=20)
@given(st.lists(st.tuples(st.text(min_size=1, max_size=5), st.integers(1, 400_000)), min_size=1, max_size=6))
def test_no_answer_is_ever_too_large(parts: list[tuple[str, int]]) -> None:
    assert message_of(ToolResult([TextBlock(text=text * times) for text, times in parts])).content
