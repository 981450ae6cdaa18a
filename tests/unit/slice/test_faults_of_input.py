"""Input from anywhere, one test per kind, under the kind's own words (faults.md, "Input, from anywhere")."""

import asyncio
import json
import math
from typing import Any

import pytest

from core.blocks import JsonBlock, TextBlock
from core.chunks import CallChunk, Completed, TextChunk
from core.entries import ToolCall, ToolResult
from core.messages import Envelope, Input
from core.parsing import parse_input
from core.request import ResultPart
from core.tools import tool
from tests.support.inputs import THREAD, cancel, close, delivered, result, user
from tests.support.played import USAGE, Turn, calls, says, signed
from tests.support.world import TOOLS, World, agent, world

FETCH = ("fetch", {"url": "u"})
ECHO = ("echo", {"text": "hi"})


def _sent_twice(message_id: str | None, transport_id: str) -> Input:
    body = {"type": "user_message", "thread_id": THREAD, "content": "go", "message_id": message_id}
    return parse_input(json.dumps(body), Envelope(transport_id, THREAD))


@pytest.mark.parametrize("days", [0, 1, 30])
async def test_redelivered_re_batched_or_sent_twice_by_the_producer_now_or_days_later_counts_once(
    days: int,
) -> None:
    one = world(*[says("done")] * 2)
    await one.run(_sent_twice("m1", "sqs-1"), _sent_twice("m1", "sqs-1"))
    one.clock.advance(days * 24 * 3600)
    again = [_sent_twice("m1", "sqs-1"), _sent_twice("m1", "sqs-2")]
    report = await one.run(again[0], user("and", "m2"), again[1])
    assert report.inputs == ("duplicate", "accepted", "duplicate")
    assert await one.lines() == ["User(go)", "Asst(done)", "User(and)", "Asst(done)"]


async def test_results_out_of_order_doubled_late_or_for_an_unknown_closed_or_interrupted_call() -> None:
    one = world(calls(FETCH, FETCH), says("both"), calls(FETCH), says("instead"))
    await one.run(user("go"))
    first, second = await one.live()
    in_order = [
        await one.run(result(second, "2"), result("call_unknown"), result(second, "two")),
        await one.run(result(first, "1"), result(first, "one")),
    ]
    assert [report.inputs for report in in_order] == [("accepted", "stale", "stale"), ("accepted", "stale")]
    assert (await one.lines())[-3:] == ["Result(fetch, 2)", "Result(fetch, 1)", "Asst(both)"]
    await one.run(user("again", "m2"))
    (interrupted,) = await one.live()
    await one.run(user("never mind", "m3"))
    await one.run(close())
    before, asked = await one.lines(), len(one.model.requests)
    report = await one.run(result(first, "late"), result(interrupted, "late"))
    assert (report.inputs, report.rounds, report.commits) == (("stale", "stale"), 0, 0)
    assert (await one.lines(), len(one.model.requests)) == (before, asked)


@tool
def measure(value: Any) -> dict[str, Any]:
    """Give back what it is given, and what JSON has no word for."""
    return {"given": value, "nan": math.nan, "top": math.inf, "large": 2**63, "tenth": 0.1}


async def test_numbers_nan_infinities_2_63_and_0_1_in_tool_arguments_and_results_round_trip_or_become_text() -> (
    None
):
    given = [math.nan, -math.inf, 2**63, 0.1]
    one = world(calls(("measure", {"value": given})), says("noted"), app=agent(tools=(measure,)))
    await one.run(user("go"))
    call, answered = (await one.store.entries(THREAD))[1:3]
    assert isinstance(call, ToolCall)
    assert isinstance(answered, ToolResult)
    assert call.args == {"value": ["NaN", "-Infinity", 2**63, 0.1]}
    expected = {"given": call.args["value"], "nan": "NaN", "top": "Infinity", "large": 2**63, "tenth": 0.1}
    assert answered.content == (JsonBlock(data=expected),)
    json.dumps([entry.to_json() for entry in (call, answered)], allow_nan=False)
    assert (await one.lines())[-1] == "Asst(noted)"


async def test_huge_results_are_kept_whole_and_the_model_sees_a_bounded_part_that_says_so() -> None:
    one = world(calls(FETCH), says("long"))
    await one.run(user("go"))
    (call_id,) = await one.live()
    await one.run(result(call_id, "x" * 900_000))
    kept = (await one.store.entries(THREAD))[2]
    assert isinstance(kept, ToolResult)
    assert kept.content == (TextBlock(text="x" * 900_000),)
    (shown,) = one.model.requests[-1].messages[-1].parts
    assert isinstance(shown, ResultPart)
    start, note = shown.content
    assert start == TextBlock(text="x" * one.app.agent().limits.result_characters)
    assert "800000 more" in str(note)


MODEL_OUTPUT: dict[str, Turn] = {
    "an unknown tool name": calls(("nope", {})),
    "a dirty tool name": calls(("fétch\x00 page!" + "x" * 80, {"a": "\ud800"})),
    "the name of an injected event": calls(("receive_event__injected", {})),
    "no tool name": calls(("", {})),
    "arguments that are not JSON": calls(("fetch", '{"url": ')),
    "arguments that are not an object": calls(("fetch", "[1, 2]")),
    "schema violations": calls(("fetch", {"url": 7}), ("fetch", {}), ("fetch", {"url": "u", "more": 1})),
    "cut off by max_tokens": calls(FETCH, stop_reason="max_tokens"),
    "the same call twice": calls(ECHO, ECHO),
    "no content at all": [Completed()],
    "only reasoning": [signed("hm"), Completed()],
    "tool calls with text before, between and after": [
        *(TextChunk("a"), CallChunk(*ECHO), TextChunk("b"), CallChunk("nope", {}), TextChunk("c")),
        Completed("tool_use", USAGE),
    ],
}


@pytest.mark.parametrize("kind", MODEL_OUTPUT)
async def test_model_output_of_any_kind_has_every_call_answered_once_and_the_next_message_answered(
    kind: str,
) -> None:
    one = world(MODEL_OUTPUT[kind], says("so"), says("here"))
    await one.run(user("go"))
    if len(one.model.turns) == 2:  # the turn ended without calls
        one.model.turns.pop()
    await one.run(user("well?", "m2"))
    entries = await one.store.entries(THREAD)
    asked = [entry.call_id for entry in entries if isinstance(entry, ToolCall)]
    answered = [entry.call_id for entry in entries if isinstance(entry, ToolResult)]
    assert len(set(asked)) == len(asked)
    assert answered == asked
    assert (await one.lines())[-2].startswith("User(well?")
    assert (await one.lines())[-1].startswith("Asst(")


@tool
def breaks() -> str:
    """Raise."""
    raise ValueError("no such thing")


@tool
def odd() -> Any:
    """Return what cannot be serialised."""
    return {"at": object()}


@tool(timeout_seconds=0.01)
async def hangs() -> str:
    """Never return."""
    await asyncio.Event().wait()
    return "late"


async def test_a_tool_that_raises_returns_what_cannot_be_serialised_or_hangs_and_siblings_keep_their_results() -> (
    None
):
    turn = calls(("breaks", {}), ECHO, ("odd", {}), ("hangs", {}))
    one = world(turn, says("so"), app=agent(tools=(*TOOLS, breaks, odd, hangs)))
    await one.run(user("go"))
    assert (await one.lines())[-5:] == [
        *("Result(breaks, error)", "Result(echo, hi)", "Result(odd, error)", "Result(hangs, timed_out)"),
        "Asst(so)",
    ]
    said = " ".join(one.model.last_results)
    assert "ValueError: no such thing" in said
    assert "object at at" in said
    assert "Traceback" not in said


async def test_a_tool_that_returns_after_its_deadline_changes_nothing() -> None:
    one = world(calls(("dig", {"depth": 1})), says("too late"))
    await one.run(user("go"))
    (call_id,) = await one.live()
    one.clock.advance(60)
    await one.run(delivered(one.dispatcher.internal[-1]))
    report = await one.run(result(call_id, "found"))
    assert (report.inputs, report.rounds) == (("stale",), 0)
    assert (await one.lines())[-2:] == ["Result(dig, timed_out)", "Asst(too late)"]


async def test_two_threads_in_one_warm_process_with_one_agent_object_shared_cross_no_state() -> None:
    first = world(calls(FETCH), says("to the first"))
    other = World(
        first.app, type(first.model)(says("to the other")), first.clock, first.store, first.dispatcher
    )
    other.thread_id = "t2"
    body = {"type": "user_message", "thread_id": "t2", "message_id": "m1", "content": "go"}
    elsewhere = parse_input(json.dumps({**body, "metadata": {"user_id": "b"}}), Envelope("s", "t2"))
    await asyncio.gather(first.run(user("go", metadata={"user_id": "a"})), other.run(elsewhere))
    (call_id,) = await first.live()
    await first.run(result(call_id, sources=[{"url": "https://a", "title": "A"}]))
    assert await other.lines() == ["User(go)", "Asst(to the other)"]
    assert await other.live() == []
    told = {output["text"]: output for output in first.dispatcher.of_type("assistant_message")}
    assert told["to the first"]["metadata"] == {"user_id": "a"}
    assert told["to the other"]["metadata"] == {"user_id": "b"}
    assert "citations" not in told["to the other"]
    assert (await first.run(cancel())).inputs == ("accepted",)
    assert (await other.state()).number == 1
