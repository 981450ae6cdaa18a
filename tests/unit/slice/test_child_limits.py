"""Limits of a tree: depth, open children, spawns of a turn, and the credit that moves down and comes back."""

from typing import Any

from core.settings import Limits, Settings
from tests.support.rules import FETCH, on, spawn, task
from tests.support.tree import ROOT, Tree, tree
from tests.support.world import agent

TOKENS = 1_000_000
LIMITED = "Result(spawn_thread, limit)"


def _app(output_tokens: int = 100, **limits: Any) -> Any:
    return agent(limits=Limits(**limits), settings=Settings(max_output_tokens=output_tokens))


async def _credit(one: Tree, thread_id: str = ROOT) -> int:
    credit = (await one.state(thread_id)).credit
    assert credit is not None
    return credit


async def test_threads_nest_as_deep_as_the_limit_says() -> None:
    rules = [
        on(spawn("deeper"), user="go"),
        on(spawn("deeper"), **task("deeper")),
        on(says="Deep enough.", depth=2),
        on(says="fine"),
    ]
    one = tree(rules, app=_app(spawn_depth=2))
    await one.say("go")
    child, grandchild = one.children
    assert (await one.lines(grandchild))[-2:] == [LIMITED, "Asst(Deep enough.)"]
    assert (await one.lines(child))[-1] == "Asst(fine)"


async def test_a_thread_has_as_many_open_children_as_the_limit_says_until_one_ends() -> None:
    rules = [
        on(spawn("wait"), user="go"),
        on(FETCH, **task("wait")),
        on(says="seen", tool_result="fetch"),
        on(says="fine"),
    ]
    one = tree(rules, app=_app(open_children=2))
    for _ in range(3):
        await one.say("go")
    assert len(one.children) == 2
    assert LIMITED in await one.lines()
    await one.answer(one.children[0])
    await one.say("go")
    assert len(one.children) == 3


async def test_one_turn_spawns_as_many_as_the_limit_says() -> None:
    rules = [on(spawn("a"), spawn("b"), spawn("c"), user="go"), on(says="fine")]
    one = tree(rules, app=_app(spawns_per_turn=2))
    await one.say("go")
    assert len(one.children) == 2
    assert (await one.lines())[6] == LIMITED


async def test_half_of_the_credit_goes_to_the_children_of_a_turn_and_what_is_left_comes_back() -> None:
    one = tree([on(spawn("a"), spawn("b"), user="go"), on(FETCH, depth=1, turns=1), on(says="fine")])
    await one.say("go")
    given = (TOKENS - 10) // 2 // 2
    assert [child.credit for child in (await one.state()).children] == [given, given]
    assert await _credit(one) == TOKENS - 2 * 10 - 2 * given
    assert [await _credit(one, child) for child in one.children] == [given - 10, given - 10]
    await one.answer(one.children[0])
    assert await _credit(one) == TOKENS - 2 * 10 - 2 * given + (given - 20) - 10
    await one.answer(one.children[1])
    assert await _credit(one) == TOKENS - 8 * 10


async def test_a_child_that_would_get_too_little_for_one_answer_is_not_spawned() -> None:
    rules = [on(spawn("a"), spawn("b"), user="go"), on(says="fine")]
    one = tree(rules, app=_app(output_tokens=2_600, tokens=10_000))
    await one.say("go")
    assert one.children == []
    assert (await one.lines()).count(LIMITED) == 2
    assert (await one.lines())[-1] == "Asst(fine)"


async def test_a_child_that_spends_its_credit_says_its_last_words_and_gives_nothing_back() -> None:
    rules = [
        on(spawn("dig"), user="go"),
        on(FETCH, tokens=6_000, **task("dig")),
        on(FETCH, says="So far.", depth=1),
        on(says="fine"),
    ]
    one = tree(rules, app=_app(tokens=10_000))
    await one.say("go")
    (child,) = one.children
    await one.answer(child)
    assert (await one.lines(child))[-4:-1] == [
        "Asst(So far.)",
        'Call(fetch, {"url": "u"})',
        "Result(fetch, limit)",
    ]
    event = (await one.lines())[-2]
    assert "It reached a limit.\nSo far." in event
    assert await _credit(one) == 10_000 - 3 * 10 - (10_000 - 10) // 2


async def test_a_closing_report_returns_at_most_what_the_child_was_given() -> None:
    one = tree([on(spawn("dig"), user="go"), on(FETCH, depth=1), on(says="fine")])
    await one.say("go")
    (open_child,) = (await one.state()).children
    before = await _credit(one)
    await one.tell(
        "thread_report",
        child_thread_id=open_child.thread_id,
        call_id=open_child.call_id,
        closing=True,
        credit=10 * TOKENS,
    )
    assert await _credit(one) == before + open_child.credit


async def test_a_root_whose_credit_was_renewed_meanwhile_never_has_more_than_its_tree_may() -> None:
    one = tree([on(spawn("dig"), user="go"), on(FETCH, **task("dig")), on(says="fine", tokens=0)])
    await one.say("go")
    (child,) = one.children
    await one.say("and?")
    assert await _credit(one) == TOKENS
    await one.answer(child)
    assert await _credit(one) == TOKENS


async def test_user_text_to_a_child_renews_no_credit() -> None:
    one = tree([on(spawn("dig"), user="go"), on(FETCH, **task("dig")), on(FETCH, depth=1), on(says="fine")])
    await one.say("go")
    (child,) = one.children
    before = await _credit(one, child)
    await one.say("faster", child)
    assert await _credit(one, child) == before - 10


async def test_at_its_turn_limit_a_child_ends_with_its_last_text() -> None:
    rules = [
        on(spawn("dig"), user="go"),
        on(("echo", {"text": "a"}), says="Still at it.", depth=1),
        on(says="ok"),
    ]
    one = tree(rules, app=_app(turns_per_user_input=3))
    await one.say("go")
    (child,) = one.children
    assert (await one.lines(child))[-1] == "TurnEnd(limit)"
    assert "Still at it." in (await one.lines())[-2]
