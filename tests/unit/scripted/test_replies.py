"""What a reply streams: pieces, reasoning, calls, usage, placeholders."""

from typing import Any

from core.chunks import ArgumentsDelta, CallChunk, Completed, ReasoningBlock, ReasoningDelta, TextChunk, Usage
from tests.unit.scripted.playing import (
    assistant,
    calls,
    calls_of,
    end_of,
    model,
    request,
    results,
    stream,
    text_of,
    user,
)

ASKED = request(user("Weather in Oslo?"), thread_stack=("root", "root~1"))


async def test_everything_in_its_order_and_in_pieces() -> None:
    reply = {
        "reasoning": [{"text": "hmm", "signature": "s"}, {"redacted": "aGk="}],
        "text": "Looking",
        "tool_calls": [{"name": "search", "args": {"q": 1}, "id": "ignored"}],
        "chunk_size": 4,
    }
    assert await stream(model(({}, reply)), ASKED) == [
        ReasoningDelta("hmm"),
        ReasoningBlock("hmm", "s", None, "script:test.json"),
        ReasoningBlock("", None, "aGk=", "script:test.json"),
        TextChunk("Look"),
        TextChunk("ing"),
        ArgumentsDelta("search", '{"q"'),
        ArgumentsDelta("search", ": 1}"),
        CallChunk("search", {"q": 1}),
        Completed("tool_use", Usage(input_tokens=4, output_tokens=6)),
    ]


async def test_twenty_characters_a_piece_by_default() -> None:
    chunks = await stream(model(({}, {"text": "x" * 45})), ASKED)
    assert [len(chunk.text) for chunk in chunks if isinstance(chunk, TextChunk)] == [20, 20, 5]


async def test_one_reasoning_block_may_stand_alone_and_unsigned() -> None:
    chunks = await stream(model(({}, {"reasoning": {"text": "hm"}})), ASKED)
    assert ReasoningBlock("hm", None, None, "script:test.json") in chunks
    assert end_of(chunks).stop_reason == "end_turn"


async def test_an_empty_reply_is_only_completed() -> None:
    assert await stream(model(({}, {})), ASKED) == [
        Completed("end_turn", Usage(input_tokens=4, output_tokens=0))
    ]


async def test_raw_arguments_go_out_as_they_are_unless_they_are_an_object() -> None:
    raw = ["[1]", '{"a": ', '{"a": NaN}', "", '{"a": 1}']
    reply = {"tool_calls": [{"name": "search", "raw_args": text} for text in raw]}
    chunks = calls_of(await stream(model(({}, reply)), ASKED))
    assert [chunk.arguments for chunk in chunks] == [*raw[:4], {"a": 1}]


async def test_stop_reason_and_usage_of_the_script_win() -> None:
    reply = {
        "text": "12345",
        "stop_reason": "max_tokens",
        "usage": {"input_tokens": 9_000, "cached_tokens": 8},
    }
    end = end_of(await stream(model(({}, reply)), ASKED))
    assert end == Completed("max_tokens", Usage(input_tokens=9_000, output_tokens=2, cached_tokens=8))


async def said(text: str, when: dict[str, Any], *messages: Any, **context: Any) -> str:
    return text_of(await stream(model((when, {"text": text})), request(*messages, **context)))


async def test_placeholders_in_text() -> None:
    asked = (user("Oslo {1} {result}"), calls("a", "b"), results(("a", "one"), ("b", {"n": 2})))
    text = "{user}|{result}|{thread_id}|{parent_id}|{1}|{2}|{other}"
    assert (
        await said(text, {"result": "(o)(x)?ne", "contains": "(Oslo)"}, *asked, thread_stack=("r", "r~1"))
        == 'Oslo {1} {result}|one\n{"n": 2}|r~1|r|o||{other}'
    )


async def test_groups_are_of_the_first_regex_in_the_file() -> None:
    assert await said("{1}{2}", {"contains": "(O)slo", "user": "(Os)(lo)"}, user("Oslo")) == "O{2}"
    assert await said("{1}{2}", {"user": "(Os)(lo)", "contains": "(O)slo"}, user("Oslo")) == "Oslo"


async def test_user_is_the_last_user_text_wherever_it_is() -> None:
    assert (
        await said("{user}", {}, user("a"), assistant("b"), user("c"), calls("s"), results(("s", "d"))) == "c"
    )


async def test_a_root_has_no_parent() -> None:
    assert await said("[{thread_id}{parent_id}]", {}, user("a"), thread_stack=("r",)) == "[r]"


async def test_placeholders_in_calls_and_reasoning() -> None:
    reply = {
        "reasoning": {"text": "about {1}"},
        "tool_calls": [
            {"name": "get_{1}", "args": {"stack": "{thread_stack}", "deep": [{"q": "in {1}"}], "n": 3}},
            {"name": "x", "raw_args": '{"city": "{1}"'},
        ],
    }
    chunks = await stream(model(({"user": "in (\\w+)"}, reply)), ASKED)
    assert ReasoningDelta("about Oslo") in chunks
    assert calls_of(chunks) == [
        CallChunk("get_Oslo", {"stack": ["root", "root~1"], "deep": [{"q": "in Oslo"}], "n": 3}),
        CallChunk("x", '{"city": "Oslo"'),
    ]
