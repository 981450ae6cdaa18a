"""What a finished turn leaves: empty ones, reasoning alone, text beside calls, cut-off calls, sources, what is told."""

import asyncio

import pytest

from core.chunks import CallChunk, Completed, TextChunk
from core.entries import ToolCall
from core.slice.builtin import Caller
from core.slice.calls import carry_out
from core.slice.inline import RunHere, Running
from core.slice.notices import SILENT, CallAnswered, CallStarted
from core.tools import ToolContext, tool
from tests.support.inputs import THREAD, result, user
from tests.support.lines import lines
from tests.support.played import USAGE, Turn, calls, says, signed
from tests.support.threads import take_turn, text
from tests.support.world import TOOLS, WEB, agent, world

FETCH = ("fetch", {"url": "u"})
ECHO = ("echo", {"text": "hi"})
EMPTY: dict[str, Turn] = {
    "nothing at all": [Completed()],
    "only reasoning": [signed("hm"), Completed()],
    "blank text": [TextChunk(" \n"), Completed()],
    "blank text and reasoning": [TextChunk(" "), signed("hm"), TextChunk("\t"), Completed()],
}


@pytest.mark.parametrize("kind", EMPTY)
async def test_an_empty_answer_ends_the_turn_and_is_recorded(kind: str) -> None:
    one = world(EMPTY[kind], says("now"))
    report = await one.run(user("go"))
    assert report.rounds == 1
    assert await one.lines() == ["User(go)", "TurnEnd(empty)"]
    (error,) = one.dispatcher.outputs
    assert (error["type"], error["code"], error["message_id"]) == ("error", "model", "m1")
    assert (await one.state()).owes is False
    await one.run(user("well?", "m2"))
    assert (await one.lines())[-1] == "Asst(now)"


async def test_text_around_calls_keeps_its_place_and_is_told_as_not_final() -> None:
    turn: Turn = [
        TextChunk("a"),
        CallChunk(*FETCH),
        TextChunk("b"),
        CallChunk(*ECHO),
        TextChunk("c"),
        Completed(),
    ]
    one = world(turn)
    await one.run(user("go"))
    kinds = [entry.kind for entry in await one.store.entries(THREAD)]
    assert kinds[1:] == ["assistant", "tool_call", "assistant", "tool_call", "assistant", "tool_result"]
    (said,) = one.dispatcher.of_type("assistant_message")
    assert (said["text"], said["final"], said["seq"]) == ("a\nb\nc", False, 6)


async def test_a_final_answer_says_what_it_cost_and_why_it_stopped() -> None:
    one = world(says("done", stop_reason="max_tokens"))
    await one.run(user("go"))
    (said,) = one.dispatcher.outputs
    assert (said["final"], said["stop_reason"], said["usage"]) == (True, "max_tokens", USAGE.model_dump())


async def test_a_call_cut_off_by_max_tokens_is_not_run_and_its_siblings_are() -> None:
    one = world(calls(ECHO, FETCH, stop_reason="max_tokens"), says("again"))
    await one.run(user("go"))
    assert (await one.lines())[-3:] == ["Result(echo, hi)", "Result(fetch, error)", "Asst(again)"]
    assert one.dispatcher.once(WEB) == []


async def test_a_call_with_text_after_it_was_not_cut_off() -> None:
    turn: Turn = [CallChunk(*ECHO), TextChunk("and so"), Completed("max_tokens")]
    one = world(turn, says("done"))
    await one.run(user("go"))
    assert "Result(echo, hi)" in await one.lines()


async def test_the_same_call_twice_in_a_turn_is_two_calls_with_two_answers() -> None:
    one = world(calls(FETCH, FETCH, ECHO, ECHO))
    await one.run(user("go"))
    ids = [body["call_id"] for body in one.dispatcher.bodies(WEB)]
    assert len(set(ids)) == 2
    assert await one.live() == ids
    assert (await one.lines())[-2:] == ["Result(echo, hi)", "Result(echo, hi)"]


async def test_parallel_results_complete_once_when_the_last_is_there() -> None:
    one = world(calls(FETCH, FETCH, FETCH), says("all three"))
    await one.run(user("go"))
    ids = await one.live()
    for call_id in reversed(ids):
        await one.run(result(call_id, call_id))
    assert len(one.model.requests) == 2
    assert one.model.last_results == [f"fetch: {call_id}" for call_id in ids]


async def test_a_dirty_tool_name_is_cleaned_and_answered() -> None:
    one = world(calls(("fétch page!" + "x" * 80, {})), says("sorry"))
    await one.run(user("go"))
    (call,) = [entry for entry in await one.store.entries(THREAD) if isinstance(entry, ToolCall)]
    assert call.name == ("f_tch_page_" + "x" * 80)[:64]
    assert (await one.lines())[-1] == "Asst(sorry)"


async def test_arguments_too_deep_to_store_are_answered() -> None:
    deep: dict[str, object] = {}
    for _ in range(400):
        deep = {"a": deep}
    one = world(calls(("echo", deep)), says("sorry"))
    await one.run(user("go"))
    assert (await one.lines())[-2:] == ["Result(echo, error)", "Asst(sorry)"]


async def test_the_observer_sees_calls_start_and_end() -> None:
    one = world(calls(FETCH, ECHO))
    await one.run(user("go"))
    told = [event for event in one.observer.events if isinstance(event, CallStarted | CallAnswered)]
    seen = [(e.call.name, e.worker) if isinstance(e, CallStarted) else e.result.outcome for e in told]
    assert sorted(map(str, seen)) == sorted(map(str, [("echo", None), ("fetch", "web"), "ok"]))


@tool
async def hang(ctx: ToolContext) -> str:
    """Never end."""
    await asyncio.Event().wait()
    return ""


async def test_an_inline_tool_gets_no_more_time_than_the_slice_has() -> None:
    one = world(app=agent(tools=(*TOOLS, hang)))
    manager = await one.manager()
    manager.handle_content(text("go"), "m1")
    take_turn(manager, CallChunk("hang", {}))
    (call,) = [entry for entry in manager.history if isinstance(entry, ToolCall)]
    caller = Caller(manager, one.app.agent(), {}, 0, one.clock.now())
    await carry_out(caller, [RunHere(call, hang.tool)], Running(one.clock.now(), SILENT, seconds=0.01))
    assert lines(manager.history)[-1] == "Result(hang, timed_out)"
