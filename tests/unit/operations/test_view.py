"""What `torpor show` draws of threads that slices made: what each waits for, its turns, and the tree below it."""

import re
from collections.abc import Sequence

import pytest

from core.supervisor import Supervisor
from infra.memory import MemoryStore
from infra.operations.branches import branches
from infra.operations.view_state import head, waits
from infra.operations.view_turns import TurnView
from tests.support.asking import asking
from tests.support.rules import FETCH, Rule, on, spawn, spawned, task
from tests.support.tree import ROOT, Tree, tree
from tests.support.world import agent

CODES = "\x1b[2J\u202e"


def store(one: Tree) -> MemoryStore:
    assert isinstance(one.world.store, MemoryStore)
    return one.world.store


async def seen(one: Tree, thread_id: str = ROOT) -> list[str]:
    """In a line each: what the thread is, what it waits for."""
    loaded = await store(one).load(thread_id)
    return [head(thread_id, loaded), *waits(thread_id, loaded, one.world.clock.now())]


def turns(one: Tree, thread_id: str = ROOT) -> list[str]:
    view = TurnView()
    return [line.strip() for commit in store(one).commits(thread_id) for line in view.draw(commit)]


def mentions(lines: Sequence[str], *wanted: str) -> bool:
    """Whether one line has all of it."""
    return any(all(re.search(part, line) for part in wanted) for line in lines)


async def lived(*rules: Rule, seconds: float = 30, **fields: object) -> Tree:
    """A thread was told to go, and then time passed."""
    one = tree([*rules, on(says="fine")], **fields)
    await one.say("go")
    one.world.clock.advance(seconds)
    return one


async def test_a_worker_that_is_waited_for_is_told_with_its_deadline_and_for_how_long() -> None:
    one = await lived(on(FETCH, user="go"))
    lines = await seen(one)
    assert mentions(lines, "^t1 ", "root", "2 entries", "waits$")
    assert mentions(lines, "fetch at worker web", "for 30.0 s", "deadline in 9 min 30 s", "call_")
    assert mentions(lines, "^timer: in 9 min 30 s")


async def test_a_person_who_is_asked_is_told_what_about_and_how_it_is_answered() -> None:
    one = await lived(on(("pay", {"amount": 5}), user="go"), app=asking())
    assert mentions(
        await seen(one), "a person: approval of pay", '"amount":5', "expires in", "torpor answer t1"
    )
    assert mentions(turns(one), "asked a person: approval of pay")


async def test_sleep_is_told_with_its_end() -> None:
    one = await lived(on(("sleep", {"seconds": 90}), user="go"))
    assert mentions(await seen(one), "waits for sleep, for 30.0 s, over in 1 min 0 s")


async def test_a_model_that_failed_is_told_with_its_tries() -> None:
    one = await lived(on(error="throttled", user="go"), seconds=1)
    assert mentions(await seen(one), "the model, which has failed: again in", r"so far \d tr")
    assert mentions(turns(one), "the model failed, try")


async def test_what_is_not_settled_deferred_or_at_rest_is_told() -> None:
    one = await lived(on(FETCH, user="go"))
    await one.tell("user_message", content="later", on_busy="queue")
    assert mentions(await seen(one), "deferred: 1 input,")
    await one.answer()
    assert mentions(await seen(one), "at rest$")
    assert mentions(await seen(one), "waits for nothing")
    store(one)._threads[ROOT].tip -= 1
    assert mentions(await seen(one), "not settled: commit", "torpor settle t1")
    await one.tell("close")
    assert len(await seen(one)) == 1


async def test_each_turn_is_told_with_what_it_waited_for() -> None:
    one = await lived(on(FETCH, says="Looking.", user="go"), seconds=2.5)
    await one.answer()
    lines = turns(one)
    assert [line for line in lines if line.startswith("──")] != []
    assert mentions(lines, "1 +00:00:00 +user_message m1")
    assert mentions(lines, r'call +fetch\(url="u"\) → worker web')
    assert mentions(lines, "2 +00:00:02 +2.5 s later: tool_result")
    assert mentions(lines, "result +fetch ok after 2.5 s: page")
    assert mentions(lines, r"\(answered: 10 tokens in, 0 out, .*; 2.5 s after it was taken in\)")


async def test_a_round_that_goes_on_in_its_slice_says_so() -> None:
    one = await lived(on(("echo", {"text": "hi"}), user="go"))
    assert mentions(turns(one), "0.0 s later, in the same slice")


async def test_the_route_of_a_supervised_turn_is_told() -> None:
    one = await lived(app=Supervisor("desk", {"shop": agent("seller")}))
    assert "(route: shop)" in turns(one)


async def test_a_tree_is_drawn_with_what_each_thread_waits_for_and_closed_threads_are_left_out() -> None:
    both = on(spawn("one"), spawn("two"), user="go")
    one = await lived(both, on(says="They work.", **spawned()), on(FETCH, **task("one")))
    drawn = [line async for line in branches(store(one), ROOT, one.world.clock.now())]
    assert mentions(drawn[:1], "^t1 ")
    assert mentions(drawn, "└─ t1~", "child of t1")
    assert mentions(drawn, "    waits for fetch at worker web")
    assert len([line for line in drawn if "child of t1" in line]) == 1
    assert mentions(turns(one), "spawned child t1~")


@pytest.mark.parametrize("where", ["user", "model", "call", "result"])
async def test_nothing_that_anybody_wrote_is_obeyed_by_a_terminal(where: str) -> None:
    rules = {
        "model": on(says=f"{CODES}hi\n\n{CODES}", user="go"),
        "call": on(("fetch", {"url": CODES}), user="go"),
    }
    one = await lived(rules.get(where, on(FETCH, user="go")))
    if where == "result":
        await one.answer(content=CODES)
    if where == "user":
        await one.say(CODES, message_id=f"m{CODES[-1]}")
    drawn = [*await seen(one), *turns(one)]
    assert not set("".join(drawn)) & set("\x1b\u202e\n\r")
