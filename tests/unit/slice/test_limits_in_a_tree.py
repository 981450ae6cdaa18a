"""Every limit, met inside a tree of threads: the work stops there, and the user gets an answer.

How each is counted stands in `test_limits.py` and `test_child_limits.py`; here is what comes of it in the end.
"""

from dataclasses import dataclass, fields
from typing import Any

import pytest

from core.settings import Limits, Settings
from tests.support.rules import FETCH, Call, Rule, on, spawn, spawned, task
from tests.support.tree import ROOT, Tree, tree
from tests.support.world import agent

ECHO: Call = ("echo", {"text": "a"})
DIG = [on(spawn("dig"), user="go", depth=0), on(says="Started.", **spawned())]
HEARD = on(says="Heard: {result}", event=".", depth=0)
PATIENT = on(says="fine")


@dataclass(frozen=True)
class Met:
    """How a limit is met: the limit, what the model does, and a part of what the user is told at last."""

    limits: dict[str, Any]
    rules: list[Rule]
    answer: str
    children: int = 1


CASES: dict[str, Met] = {
    "rounds_per_slice": Met(
        {"rounds_per_slice": 1},
        [
            *DIG,
            on(ECHO, **task("dig")),
            on(ECHO, tool_result="echo", turns=3, depth=1),
            on(says="dug", depth=1),
        ],
        "dug",
    ),
    "turns_per_user_input": Met(
        {"turns_per_user_input": 4},
        [*DIG, on(ECHO, says="Not yet.", depth=1)],
        "It reached a limit.\nNot yet.",
    ),
    "spawn_depth": Met(
        {"spawn_depth": 1},
        [*DIG, on(spawn("deeper"), **task("dig")), on(says="alone then", depth=1)],
        "alone then",
    ),
    "open_children": Met(
        {"open_children": 1},
        [
            on(spawn("dig"), spawn("dig"), user="go", depth=0),
            on(says="One of two.", contains="1 children are open", event=".", depth=0),
            on(says="Started.", **spawned()),
            on(says="dug", depth=1),
        ],
        "One of two.",
    ),
    "spawns_per_turn": Met(
        {"spawns_per_turn": 1},
        [
            on(spawn("dig"), spawn("dig"), user="go", depth=0),
            on(says="One of two.", contains="at most 1 threads", event=".", depth=0),
            on(says="Started.", **spawned()),
            on(says="dug", depth=1),
        ],
        "One of two.",
    ),
    "tokens": Met(
        {"tokens": 20_000},
        [
            *DIG,
            on(ECHO, says="So far.", tokens=9_950, **task("dig")),
            on(FETCH, says="No more.", depth=1),
        ],
        "It reached a limit.\nNo more.",
    ),
    "model_tries": Met({"model_tries": 2}, [*DIG, on(error="throttled", depth=1)], "It failed."),
    "result_characters": Met(
        {"result_characters": 1_000},
        [
            *DIG,
            on(("echo", {"text": "x" * 1_900}), **task("dig")),
            on(says="cut", contains="900 more characters are stored but not shown", depth=1),
        ],
        "cut",
    ),
}
"""By limit. `approval_seconds` and `deferred_inputs` have tests of their own, see below."""


async def _answers(one: Tree) -> list[str]:
    return [
        output["text"]
        for output in one.outputs("assistant_message")
        if output["thread_id"] == ROOT and output["final"]
    ]


@pytest.mark.parametrize("limit", CASES)
async def test_the_user_gets_an_answer_in_the_end(limit: str) -> None:
    met = CASES[limit]
    app = agent(limits=Limits(**met.limits), settings=Settings(max_output_tokens=100))
    one = tree([*met.rules, HEARD, PATIENT], app=app)
    await one.say("go")
    await one.advance(100)
    answers = await _answers(one)
    assert met.answer in answers[-1]
    assert len(one.children) == met.children
    for child in one.children:
        assert (await one.state(child)).closed
    state = await one.state()
    assert (state.owes, state.live, state.children, state.wake) == (False, (), (), None)


async def test_a_root_at_its_limit_gives_its_last_words_and_its_children_still_report() -> None:
    rules = [on(spawn("dig"), says="Another one.", depth=0, turns=0), on(ECHO, says="That is all.", depth=0)]
    one = tree(
        [*rules, on(FETCH, **task("dig")), on(says="dug", depth=1)],
        app=agent(limits=Limits(turns_per_user_input=1)),
    )
    await one.say("go")
    assert await _answers(one) == ["That is all."]
    await one.answer(one.children[0])
    assert (await _answers(one))[-1] == "That is all."
    assert "dug" in str(await one.lines())
    assert (await one.state()).children == ()


async def test_a_tree_without_credit_answers_once_more_and_user_text_renews_it() -> None:
    rules = [on(ECHO, says="No tokens left.", tokens=30_000, depth=0, contains="go"), PATIENT]
    one = tree(rules, app=agent(limits=Limits(tokens=20_000)))
    await one.say("go")
    assert await _answers(one) == ["No tokens left."]
    assert (await one.lines())[-2:] == ["Result(echo, limit)", "TurnEnd(limit)"]
    await one.say("go on")
    assert (await one.state()).credit == 20_000 - 2 * 30_000


async def test_sleeping_is_no_way_around_the_turns_of_a_user_input() -> None:
    rules = [on(("sleep", {"seconds": 60}), says="Still here.", depth=0)]
    one = tree(rules, app=agent(limits=Limits(turns_per_user_input=3)))
    await one.say("wait")
    for _ in range(5):
        await one.advance(60)
    assert (await one.lines())[-2:] == ["Result(sleep, limit)", "TurnEnd(limit)"]
    assert await _answers(one) == ["Still here."]
    assert (await one.state()).timer is None


def test_every_limit_is_met_somewhere() -> None:
    elsewhere = {"approval_seconds", "deferred_inputs"}
    assert {field.name for field in fields(Limits)} == set(CASES) | elsewhere
