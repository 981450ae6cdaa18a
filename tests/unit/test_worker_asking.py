"""A worker whose tool asks a person: asked once, run again with the answers, whatever is delivered twice or dies."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from core import AskAuth, AskChoice
from core.dead_calls import answer_dead_work
from core.errors import MisuseError
from core.messages import Envelope, QuestionMessage
from core.parsing import parse_input
from core.tools import ToolContext, run_tool, tool
from core.tools.asking import Answered
from core.worker import MAX_QUESTIONS, CallRunning
from tests.unit.test_worker import World, call

RUNS: list[tuple[str, ...]] = []


@tool(worker="w")
def paint(what: str, ctx: ToolContext) -> str | AskChoice | AskAuth:
    """Paint something."""
    RUNS.append(tuple(answered.choice for answered in ctx.answers))
    if ctx.answer is None:
        return AskChoice(f"Which colour for {what}?", ["red", "green"], default="red", expires_in_seconds=60)
    if len(ctx.answers) == 1:
        return AskAuth("https://example.org/paint")
    return f"{what} is {ctx.answers[0].choice} ({ctx.answers[0].comment}), {ctx.answer.choice}"


@tool(worker="w")
def insist(ctx: ToolContext) -> AskChoice:
    """Never have enough."""
    return AskChoice(f"Really? {len(ctx.answers)}", ["yes"])


def _world() -> World:
    RUNS.clear()
    return World(paint.tool, insist.tool)


def _call(name: str = "paint", **args: Any) -> str:
    return call(name=name, args=args or {"what": "a wall"})


def _answer(question: dict[str, Any], choice: str, comment: str = "") -> str:
    return json.dumps(
        {
            "type": "tool_answer",
            "thread_id": "t~child",
            "call_id": "c1",
            "question": question["message_id"],
            "choice": choice,
            "comment": comment,
        }
    )


async def test_it_asks_instead_of_answering_and_goes_on_with_each_answer() -> None:
    world = _world()
    assert await world.worker.handle(_call(), "a", 300) == "asked"
    (asked,) = world.answers()
    parsed = parse_input(json.dumps(asked), Envelope("sqs", "t~child")).message
    assert isinstance(parsed, QuestionMessage)
    assert (parsed.kind, parsed.prompt, parsed.default) == ("choice", "Which colour for a wall?", "red")
    assert (parsed.choices, parsed.expires_in_seconds) == (("red", "green"), 60)
    assert await world.worker.handle(_answer(asked, "green", "like grass"), "b", 300) == "asked"
    second = world.answers()[-1]
    assert (second["kind"], second["url"]) == ("auth", "https://example.org/paint")
    assert second["message_id"] != asked["message_id"]
    assert await world.worker.handle(_answer(second, "approved"), "c", 300) == "answered"
    assert world.answers()[-1]["content"] == [
        {"type": "text", "text": "a wall is green (like grass), approved"}
    ]
    assert RUNS == [(), ("green",), ("green", "approved")]


async def test_a_call_that_comes_again_while_it_asks_asks_the_same_and_runs_nothing() -> None:
    world = _world()
    await world.worker.handle(_call(), "a", 300)
    world.clock.advance(301)
    assert await world.worker.handle(_call(), "b", 300) == "asked"
    first, again = world.answers()
    assert (first == again, len(RUNS)) == (True, 1)


async def test_an_answer_that_comes_twice_is_taken_once() -> None:
    world = _world()
    await world.worker.handle(_call(), "a", 300)
    (asked,) = world.answers()
    await world.worker.handle(_answer(asked, "green"), "b", 300)
    assert await world.worker.handle(_answer(asked, "red"), "c", 300) == "asked"
    assert RUNS == [(), ("green",)]


async def test_an_answer_nobody_asked_for_is_dropped() -> None:
    world = _world()
    stray = {"message_id": "q"}
    assert await world.worker.handle(_answer(stray, "green"), "a", 300) == "dropped"
    await world.worker.handle(_call(), "a", 300)
    assert await world.worker.handle(_answer(stray, "green"), "b", 300) == "dropped"
    assert await world.worker.handle(_cancel(), "c", 300) == "cancelled"
    assert await world.worker.handle(_answer(world.answers()[0], "green"), "d", 300) == "dropped"
    assert len(RUNS) == 1


def _cancel() -> str:
    return json.dumps({"type": "tool_cancel", "thread_id": "t~child", "call_id": "c1"})


async def test_the_call_itself_delivered_again_goes_on_with_the_answer() -> None:
    world = _world()
    await world.worker.handle(_call(), "a", 300)
    (asked,) = world.answers()
    now = world.clock.now()
    world.records.answer("#c1", Answered(choice="green"), question_id=asked["message_id"], now=now)
    await world.worker.handle(_call(), "b", 300)
    assert RUNS == [(), ("green",)]


async def test_an_attempt_that_died_with_the_answer_is_followed_by_another_when_its_lease_is_over() -> None:
    world = _world()
    await world.worker.handle(_call(), "a", 300)
    (asked,) = world.answers()
    now = world.clock.now()
    world.records.answer("#c1", Answered(choice="green"), question_id=asked["message_id"], now=now)
    lease_until = now.replace(second=30)
    world.records.begin("#c1", attempt="died", lease_until=lease_until, now=now)
    with pytest.raises(CallRunning):
        await world.worker.handle(_answer(asked, "green"), "b", 300)
    world.clock.advance(30)
    assert await world.worker.handle(_answer(asked, "green"), "b", 300) == "asked"
    assert RUNS == [(), ("green",)]


async def test_a_dead_answer_is_an_error_of_its_call_and_a_dead_call_that_asks_still_asks() -> None:
    world = _world()
    await world.worker.handle(_call(), "a", 300)
    (asked,) = world.answers()
    assert await answer_dead_work(_call(), "b", world.answering) == "asked"
    assert await answer_dead_work(_answer({"message_id": "q"}, "red"), "c", world.answering) == "dropped"
    assert await answer_dead_work(_answer(asked, "green"), "d", world.answering) == "answered"
    assert world.answers()[-1]["is_error"]
    assert len(RUNS) == 1


async def test_after_its_deadline_an_answer_runs_nothing() -> None:
    world = _world()
    await world.worker.handle(_call(), "a", 300)
    (asked,) = world.answers()
    world.clock.advance(3_601)
    assert await world.worker.handle(_answer(asked, "green"), "b", 300) == "answered"
    assert world.answers()[-1]["outcome"] == "timed_out"
    assert len(RUNS) == 1


async def test_a_tool_that_never_has_enough_is_ended_with_an_error() -> None:
    world = _world()
    await world.worker.handle(call(name="insist"), "a", 300)
    for number in range(MAX_QUESTIONS):
        asked = world.answers()[-1]
        await world.worker.handle(_answer(asked, "yes"), f"b{number}", 300)
    assert world.answers()[-1]["type"] == "tool_result"
    assert world.answers()[-1]["is_error"]


async def test_inside_a_slice_nobody_can_be_asked() -> None:
    @tool(inline=True)
    def here() -> AskChoice:
        """Ask."""
        return AskChoice("Which?", ["a"])

    run = await run_tool(here.tool, {}, ToolContext.for_test())
    assert run.outcome == "error"


def test_a_tool_that_asks_is_tested_by_giving_it_answers() -> None:
    assert isinstance(paint("a wall", ToolContext.for_test()), AskChoice)
    answers = (Answered(choice="red"), Answered(choice="approved"))
    assert paint("a wall", ToolContext.for_test(answers=answers)) == "a wall is red (), approved"


BAD: dict[str, Callable[[], object]] = {
    "no prompt": lambda: AskChoice("", ["a"]),
    "a long prompt": lambda: AskChoice("x" * 10_001, ["a"]),
    "no choice": lambda: AskChoice("?", []),
    "one twice": lambda: AskChoice("?", ["a", "a"]),
    "a blank one": lambda: AskChoice("?", ["a", " "]),
    "a long one": lambda: AskChoice("?", ["a" * 1_001]),
    "too many": lambda: AskChoice("?", [str(number) for number in range(101)]),
    "another default": lambda: AskChoice("?", ["a"], default="b"),
    "over at once": lambda: AskChoice("?", ["a"], expires_in_seconds=0),
    "over at no time": lambda: AskChoice("?", ["a"], expires_in_seconds=float("nan")),
    "no page": lambda: AskAuth(""),
    "no web page": lambda: AskAuth("ftp://example.org"),
    "a script": lambda: AskAuth("javascript:alert(1)"),
    "a space": lambda: AskAuth("https://example.org/a b"),
    "a line break": lambda: AskAuth("https://example.org\n.evil.com"),
    "a user that hides the host": lambda: AskAuth("https://good.com@evil.com"),
    "no port": lambda: AskAuth("https://example.org:99999"),
    "a long address": lambda: AskAuth("https://" + "x" * 4_000),
}


@pytest.mark.parametrize("bad", BAD)
def test_a_question_that_nobody_could_answer_cannot_be_asked(bad: str) -> None:
    with pytest.raises(MisuseError):
        BAD[bad]()
