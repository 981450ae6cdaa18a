"""`ctx.state` of inline tools: one instance a turn, and what they make of it stored in the commit of the turn."""

from dataclasses import dataclass

import pytest

from core.errors import ModelRefused
from core.history import keep_recent_messages
from core.slice.compaction import compaction_point
from core.slice.ending import last_text
from core.sources import Source
from core.state import AgentState, AppMessage
from core.state.edits import AppendAt, SetAt
from core.tools import ToolContext, tool
from tests.support.asking import answer
from tests.support.inputs import result, user
from tests.support.played import calls, fails, says
from tests.support.rules import Call
from tests.support.stateful import SEEN, STATE_TOOLS, log, look, noting, recorded
from tests.support.world import World, agent, world

LOOK: Call = ("look", {})
SPOIL: Call = ("spoil", {})


def note(text: str) -> Call:
    return ("write", {"text": text})


def tell(role: str, content: str) -> Call:
    return ("log", {"role": role, "content": content})


async def said(one: World, *texts: str) -> World:
    """Say these, one slice each."""
    for text in texts:
        await one.run(user(text, message_id=text))
    return one


async def test_own_fields_are_stored_in_the_commit_of_the_turn_and_only_when_changed() -> None:
    one = world(calls(note("a")), says("ok"), calls(LOOK), says("ok"), app=noting())
    await said(one, "1", "2")
    first, *rest = recorded(one)
    assert first == (SetAt(path=("notes",), value=["a"]), SetAt(path=("count",), value=1))
    assert rest == [(), (), ()]
    assert one.model.requests[-1].messages[-1].parts[0].content[0].text == "['a'] 1"  # type: ignore[union-attr]


async def test_a_change_is_recorded_and_not_the_whole() -> None:
    one = world(calls(note("a")), says("ok"), calls(note("b")), says("ok"), app=noting())
    await said(one, "1", "2")
    assert recorded(one)[2] == (AppendAt(path=("notes",), items=("b",)), SetAt(path=("count",), value=2))


async def test_calls_of_a_turn_work_on_one_state_together() -> None:
    one = world(calls(note("a"), note("b"), note("c")), calls(LOOK), says("ok"), app=noting())
    await said(one, "1")
    assert (await one.state()).stored_state == {"notes": ["a", "b", "c"], "count": 3}


async def test_messages_are_entries_of_the_log_after_the_results_and_no_model_sees_them() -> None:
    turn = calls(tell("ui", "one"), ("fetch", {"url": "u"}), tell("ui", "two"))
    one = world(turn, calls(LOOK), says("ok"), app=noting())
    await said(one, "1")
    assert (await one.lines())[4:] == ["Result(log, told)", "Result(log, told)", "App(ui)", "App(ui)"]
    await one.run(result((await one.live())[0]))
    (state,) = SEEN[-1:]
    assert state.messages == [AppMessage(role="ui", content="one!"), AppMessage(role="ui", content="two!")]
    assert state.get_latest_message("ui") == "two!"
    assert state.get_latest_message("other") is None
    assert "two!" not in str(one.model.requests[-1].messages)
    assert recorded(one)[0] == ()


async def test_message_history_is_what_the_model_was_given() -> None:
    processors = [keep_recent_messages(2)]
    one = world(says("a"), says("b"), calls(LOOK), says("ok"), app=noting(history_processors=processors))
    await said(one, "1", "2", "3")
    assert SEEN[-1].message_history == list(one.model.requests[2].messages)
    assert len(SEEN[-1].message_history) < 5


async def test_what_a_tool_does_to_message_history_reaches_neither_the_model_nor_the_log() -> None:
    @tool(inline=True)
    def forget(ctx: ToolContext) -> str:
        """Forget everything."""
        ctx.state.message_history.clear()
        return "forgotten"

    one = world(calls(("forget", {}), note("kept?")), says("ok"), app=noting(tools=(*STATE_TOOLS, forget)))
    await said(one, "1")
    assert (await one.lines())[3:5] == ["Result(forget, error)", "Result(write, error)"]
    assert len(one.model.requests[1].messages) == 3
    assert (await one.state()).stored_state is None


async def test_one_misfit_fails_the_results_of_its_turn_and_nothing_is_stored() -> None:
    turn = calls(note("a"), tell("ui", "x"), SPOIL, ("echo", {"text": "hi"}))
    one = world(turn, calls(LOOK), says("ok"), app=noting())
    await said(one, "1")
    assert (await one.lines())[5:9] == [
        "Result(write, error)",
        "Result(log, error)",
        "Result(spoil, error)",
        "Result(echo, hi)",
    ]
    assert "App(ui)" not in await one.lines()
    told = one.model.requests[1].messages[-1].parts[0].content  # type: ignore[union-attr]
    assert "Notes" in told[0].text  # type: ignore[union-attr]
    assert told[1].text == "1 notes"  # type: ignore[union-attr]
    assert (await one.lines())[10] == "Result(look, [] 0)"
    assert recorded(one) == [(), (), ()]


async def test_patches_of_inline_tools_follow_in_call_order_each_checked() -> None:
    turn = calls(("patch", {"changes": {"count": 5}}), ("patch", {"changes": {"count": "x"}}), note("a"))
    one = world(turn, says("ok"), app=noting())
    await said(one, "1")
    assert (await one.state()).stored_state == {"notes": ["a"], "count": 5}
    assert (await one.lines())[4:6] == ["Result(patch, patched)", "Result(patch, error)"]


async def test_sources_noted_in_the_state_are_cited_without_duplicate_urls() -> None:
    @tool(inline=True)
    def cite(number: int, ctx: ToolContext) -> str:
        """Cite."""
        ctx.state.add_source(f"https://{number}", f"in the state, {len(ctx.state.sources)} before")
        ctx.add_source(f"https://{number}", "in the context")
        return "cited"

    first, second = ("cite", {"number": 1}), ("cite", {"number": 2})
    app = agent(tools=[cite], state_type=AgentState)
    await said(one := world(calls(first), calls(second, first), says("ok"), app=app), "1")
    cited = [Source(**source) for source in one.dispatcher.of_type("assistant_message")[-1]["citations"]]
    assert cited == [
        Source("https://1", "in the state, 0 before"),
        Source("https://2", "in the state, 1 before"),
    ]
    assert (await one.state()).stored_state is None


async def test_without_a_state_type_the_state_is_a_plain_dict() -> None:
    @tool(inline=True)
    def count(ctx: ToolContext) -> int:
        """Count."""
        ctx.state["n"] = ctx.state.get("n", 0) + 1
        number: int = ctx.state["n"]
        return number

    one = world(calls(("count", {})), calls(("count", {})), says("ok"), app=agent(tools=[count]))
    await said(one, "1")
    assert (await one.state()).stored_state == {"n": 2}


async def test_any_dataclass_or_model_is_a_state_and_without_message_history_has_no_history() -> None:
    @dataclass
    class Mine:
        n: int = 0

    @tool(inline=True)
    def count(ctx: ToolContext) -> str:
        """Count."""
        ctx.state.n += 1
        return str(vars(ctx.state))

    one = world(calls(("count", {})), says("ok"), app=agent(tools=[count], state_type=Mine))
    await said(one, "1")
    assert (await one.lines())[2] == "Result(count, {'n': 1})"
    assert (await one.state()).stored_state == {"n": 1}


@pytest.mark.parametrize("other", ["t2", "t3"])
async def test_each_thread_has_a_state_of_its_own(other: str) -> None:
    one = world(calls(note("a")), says("ok"), calls(LOOK), says("ok"), app=noting())
    await said(one, "1")
    one.thread_id = other
    await one.run(user("2", thread_id=other))
    assert (await one.lines())[2] == "Result(look, [] 0)"
    assert (await one.state()).stored_state is None


async def test_an_approved_call_has_the_state_and_what_the_model_was_given_when_it_made_it() -> None:
    asked = tool(name="look", inline=True, requires_approval=True)(look.tool.function)
    tools = [one for one in STATE_TOOLS if one.tool.name != "look"]
    app = noting(tools=(*tools, asked), history_processors=[keep_recent_messages(2)])
    one = world(calls(note("a")), says("ok"), says("b"), calls(LOOK, text="See:"), says("ok"), app=app)
    await said(one, "1", "2", "3")
    await one.run(answer((await one.live())[0], approved=True))
    assert SEEN[-1].message_history == list(one.model.requests[3].messages)
    assert (await one.lines())[-2:] == ["Result(look, ['a'] 1)", "Asst(ok)"]


async def test_what_an_approved_call_tells_the_application_hides_no_waiting_text_from_the_model() -> None:
    asked = tool(name="log", inline=True, requires_approval=True)(log.tool.function)
    one = world(calls(tell("ui", "x")), says("ok"), app=noting(tools=[asked], on_busy="queue"))
    await said(one, "1", "2")
    await one.run(answer((await one.live())[0], approved=True), seconds_left=6.0)
    assert (await one.lines())[2:] == ["Result(log, told)", "User(2)", "App(ui)"]
    assert compaction_point(await one.manager()) == 3


async def test_a_failed_turn_reports_what_was_said_before_the_application_was_told() -> None:
    one = world(calls(tell("ui", "x"), text="Working."), fails(ModelRefused("no")), app=noting())
    await said(one, "1")
    assert (await one.lines())[-2:] == ["App(ui)", "TurnEnd(failed)"]
    assert last_text(await one.manager()) == "It failed.\nWorking."
