"""Approvals: asked before a call is dispatched, and answered by a person: approved, edited or refused."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from core.app import App
from core.clock import iso
from core.commit import commit_text
from core.entries import ToolCall, ToolResult
from core.errors import Refused
from core.render import plain_text
from core.settings import Limits
from core.tools import tool
from infra.memory import MemoryStore
from tests.support.asking import PAY, RUN, WIPE, answer, asking, closings
from tests.support.inputs import THREAD, result, user
from tests.support.played import calls, says
from tests.support.rules import Call
from tests.support.world import START, TOOLS, World, agent, world

BANK = "worker:bank"


async def _asked(*called: Call, **fields: Any) -> tuple[World, str]:
    """The question is out; the id of its call."""
    one = world(calls(*called), says("done"), app=asking(**fields))
    await one.run(user("go"))
    return one, (await one.live())[-1]


async def _result(one: World) -> tuple[str, str]:
    """Outcome and text of the newest result."""
    found = [entry for entry in await one.store.entries(THREAD) if isinstance(entry, ToolResult)]
    return found[-1].outcome, plain_text(found[-1].content)


@pytest.mark.parametrize("call", [PAY, WIPE], ids=["worker", "inline"])
async def test_a_call_is_asked_about_before_it_is_dispatched(call: Call) -> None:
    one, call_id = await _asked(call)
    (asked,) = one.dispatcher.outputs
    assert (asked["type"], asked["kind"], asked["call_id"]) == ("question", "approval", call_id)
    assert (asked["name"], asked["args"]) == call
    assert asked["expires_at"] == iso(START + timedelta(seconds=Limits().approval_seconds))
    assert asked["thread_id"] == THREAD
    assert (one.dispatcher.once(BANK), RUN) == ([], [])
    state = await one.state()
    assert (state.working, state.runnable) == (True, False)


async def test_approved_is_dispatched_exactly_as_it_was_shown() -> None:
    one, call_id = await _asked(PAY)
    one.clock.advance(1000)
    report = await one.run(answer(call_id, approved=True))
    assert (report.inputs, report.rounds) == (("accepted",), 0)
    (sent,) = one.dispatcher.bodies(BANK)
    assert (sent["type"], sent["call_id"], sent["name"], sent["args"]) == ("tool_call", call_id, *PAY)
    assert sent["deadline"] == iso(START + timedelta(seconds=1600))
    (started,) = one.dispatcher.of_type("tool_started")
    assert (started["call_id"], started["name"], started["args"]) == (call_id, *PAY)
    assert closings(one) == [("approval", "answered")]
    assert (await one.state()).live[0].deadline_at == START + timedelta(seconds=1600)


async def test_an_inline_tool_runs_in_the_slice_of_the_answer() -> None:
    one, call_id = await _asked(WIPE)
    report = await one.run(answer(call_id, approved=True))
    assert (report.rounds, RUN) == (1, ["sda"])
    assert (await one.lines())[-2:] == ["Result(wipe, wiped sda)", "Asst(done)"]
    assert closings(one) == [("approval", "answered")]


@pytest.mark.parametrize("where", ["worker", "inline"])
async def test_edited_arguments_are_what_is_run_and_the_model_is_told(where: str) -> None:
    one, call_id = await _asked(PAY if where == "worker" else WIPE)
    edited = {"amount": 3} if where == "worker" else {"disk": "sdb"}
    await one.run(answer(call_id, approved=True, args=edited))
    if where == "worker":
        assert one.dispatcher.bodies(BANK)[0]["args"] == edited
        assert one.dispatcher.of_type("tool_started")[0]["args"] == edited
        await one.run(result(call_id, "paid"))
    else:
        assert RUN == ["sdb"]
    outcome, text = await _result(one)
    assert outcome == "ok"
    assert text.splitlines()[-1] in ("paid", "wiped sdb")
    assert "other arguments" in text.splitlines()[0]
    assert str(next(iter(edited.values()))) in text.splitlines()[0]
    asked = [entry for entry in await one.store.entries(THREAD) if isinstance(entry, ToolCall)]
    assert asked[-1].args != edited, "what the model asked for stays what it asked for"


async def test_arguments_that_were_sent_back_unchanged_are_not_edited() -> None:
    one, call_id = await _asked(WIPE)
    await one.run(answer(call_id, approved=True, args={"disk": "sda"}))
    assert await _result(one) == ("ok", "wiped sda")


async def test_to_python_one_is_true_but_a_person_who_writes_it_has_edited() -> None:
    ran: list[Any] = []

    @tool(requires_approval=True)
    def put(value: Any) -> str:
        """Put it."""
        ran.append(value)
        return "put"

    one = world(calls(("put", {"value": True})), says("done"), app=agent(tools=(put,)))
    await one.run(user("go"))
    await one.run(answer((await one.live())[-1], approved=True, args={"value": 1}))
    assert [type(value) for value in ran] == [int]
    assert "other arguments" in (await _result(one))[1]


@pytest.mark.parametrize("args", [{"disk": 5}, {}, {"disk": "a", "more": 1}])
async def test_edited_arguments_that_do_not_fit_leave_the_question_open(args: dict[str, Any]) -> None:
    one, call_id = await _asked(WIPE)
    report = await one.run(answer(call_id, approved=True, args=args))
    assert isinstance(report.inputs[0], Refused)
    (error,) = one.dispatcher.of_type("error")
    assert (error["code"], error["message_id"]) == ("invalid", "a1")
    assert (RUN, await one.live()) == ([], [call_id])
    await one.run(answer(call_id, "a2", approved=True))
    assert RUN == ["sda"]


async def test_an_answer_that_says_neither_yes_nor_no_leaves_the_question_open() -> None:
    one, call_id = await _asked(WIPE)
    report = await one.run(answer(call_id, choice="yes"))
    assert isinstance(report.inputs[0], Refused)
    assert closings(one) == []


@pytest.mark.parametrize("comment", ["", "not on my watch"])
async def test_a_refusal_is_told_with_its_comment_and_nothing_is_run(comment: str) -> None:
    one, call_id = await _asked(WIPE)
    report = await one.run(answer(call_id, approved=False, comment=comment))
    outcome, text = await _result(one)
    assert (outcome, RUN, report.rounds) == ("refused", [], 1)
    assert comment in text
    assert closings(one) == [("approval", "answered")]
    assert (await one.lines())[-1] == "Asst(done)"


@pytest.mark.parametrize("approved", [True, False])
async def test_a_second_answer_changes_nothing(approved: bool) -> None:
    one, call_id = await _asked(PAY)
    await one.run(answer(call_id, approved=True))
    before = await one.state()
    report = await one.run(answer(call_id, "a2", approved=approved))
    assert (report.inputs, report.commits, await one.state()) == (("stale",), 0, before)
    assert len(one.dispatcher.bodies(BANK)) == 1


async def test_two_answers_in_one_batch_the_first_one_stands() -> None:
    one, call_id = await _asked(PAY)
    report = await one.run(answer(call_id, approved=False), answer(call_id, "a2", approved=True))
    assert report.inputs == ("accepted", "stale")
    assert one.dispatcher.once(BANK) == []
    assert closings(one) == [("approval", "answered")]


async def test_the_same_answer_again_is_a_duplicate() -> None:
    one, call_id = await _asked(PAY)
    await one.run(answer(call_id, approved=True))
    report = await one.run(answer(call_id, approved=True))
    assert (report.inputs, report.commits) == (("duplicate",), 0)


async def test_an_answer_about_an_unknown_call_changes_nothing() -> None:
    one, _ = await _asked(PAY)
    report = await one.run(answer("call_unknown", approved=True))
    assert (report.inputs, report.commits) == (("stale",), 0)


async def test_next_to_other_calls_only_the_one_is_asked_about_and_all_are_waited_for() -> None:
    one = world(calls(("echo", {"text": "hi"}), PAY, ("fetch", {"url": "u"})), says("done"), app=asking())
    await one.run(user("go"))
    paid, fetched = await one.live()
    assert [output["type"] for output in one.dispatcher.outputs] == ["question", "tool_started"]
    await one.run(answer(paid, approved=False))
    report = await one.run(result(fetched))
    assert report.rounds == 1
    assert [line.partition(":")[0] for line in one.model.last_results] == ["echo", "pay", "fetch"]


@pytest.mark.parametrize(("approved", "last"), [(True, "wiped sda"), (False, "refused")])
async def test_the_answer_to_the_last_call_that_is_waited_for_rouses_a_sleeper(
    approved: bool, last: str
) -> None:
    one, call_id = await _asked(("sleep", {"seconds": 3600}), WIPE)
    await one.run(answer(call_id, approved=approved))
    assert (await one.lines())[-3:] == [
        f"Result(wipe, {last})",
        "Result(sleep, interrupted)",
        "Asst(done)",
    ]


async def test_a_deployment_that_removes_the_tool_is_told_when_it_is_approved() -> None:
    one, call_id = await _asked(PAY)
    one.app = App.of(agent())
    await one.run(answer(call_id, approved=True))
    outcome, text = await _result(one)
    assert (outcome, one.dispatcher.once(BANK)) == ("error", [])
    assert "pay" in text
    assert closings(one) == [("approval", "answered")]


async def test_a_deployment_that_changes_the_tools_arguments_runs_nothing_that_does_not_fit() -> None:
    one, call_id = await _asked(WIPE)
    kept = asking()
    changed = replace(kept.toolbox["give"], name="wipe")
    one.app = App.of(agent(tools=(*TOOLS, changed)))
    await one.run(answer(call_id, approved=True))
    assert (await _result(one))[0] == "error"


@pytest.mark.parametrize(
    ("args", "asks"),
    [
        ({"amount": 100}, False),
        ({"amount": 101}, True),
        ({"amount": "much"}, True),  # the function raises
    ],
)
async def test_a_function_of_the_arguments_decides_and_one_that_raises_asks(
    args: dict[str, Any], asks: bool
) -> None:
    one = world(calls(("give", args)), says("done"), app=asking())
    await one.run(user("go"))
    assert bool(one.dispatcher.of_type("question")) == asks
    assert ("Asst(done)" in await one.lines()) != asks


async def test_large_arguments_are_shown_whole_and_kept_once_a_commit() -> None:
    one, call_id = await _asked(("wipe", {"disk": "x" * 60_000}))
    (asked,) = one.dispatcher.of_type("question")
    assert len(asked["args"]["disk"]) == 60_000
    await one.run(answer(call_id, approved=True))
    assert RUN == ["x" * 60_000]
    assert isinstance(one.store, MemoryStore)
    assert max(len(commit_text(commit)) for commit in one.store.commits(THREAD)) < 130_000
