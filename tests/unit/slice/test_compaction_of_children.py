"""Compaction inside a child or a fork: over what it inherits, on top of that, and what of its task is kept."""

from typing import Any

from core.app import App
from core.fork import fork
from core.render import PINNED_HEAD, SUMMARY_HEAD
from tests.contract.stores import Stores
from tests.support.compacting import NEAR, SUMMARY, compacted, compactions, long, newest, small
from tests.support.rules import FETCH, on, spawn, spawned, task
from tests.support.tree import ROOT, Tree, tree

DIG = spawn("dig deep")
RULES = [
    SUMMARY,
    on(spawn("dig deep", agent="digger"), user="full", depth=0),
    on(DIG, user="dig", depth=0),
    on(spawn("deeper"), user="further", depth=1),
    on(says="off they go", **spawned()),
    on(FETCH, **task("dig deep")),
    on(FETCH, **task("deeper")),
    on(says="off they go", **spawned(1)),
    on(says="dug", tool_result="fetch"),
    on(says="fine"),
]


async def _dug(one: Tree) -> str:
    """A root that said something, and its child at work; the child."""
    await one.say("hi")
    await one.say("dig")
    return one.children[0]


def _of_two_windows() -> App:
    """An agent with a large window, and one with a small one."""
    return App(agents=[small(settings={"context_window": 100_000}), small(name="digger")])


async def _begun_full(one: Tree) -> str:
    """A child that inherits more than its window holds; the child."""
    await one.say("hi " + long(1_800))
    await one.say("full")
    return one.children[0]


async def test_its_summary_covers_what_it_inherits_and_keeps_its_task_word_for_word(stores: Stores) -> None:
    async with stores.open() as opened:
        one = tree(RULES, app=small(), store=opened.store)
        child = await _dug(one)
        await one.tell("compact", child)
        assert [(o["thread_id"], o["up_to_seq"]) for o in one.outputs("compacted")] == [(child, 2)]
        await one.answer(child)
        first, *rest = newest(one, child)
        assert first.startswith(f"user: {PINNED_HEAD}You are now the child thread {child}.")
        assert first.endswith(f"\n\n{SUMMARY_HEAD}They greeted.")
        assert "dig deep" in first
        assert rest == ["assistant: call fetch", "user: result fetch"]
        assert (await one.lines(child))[-1] == "Asst(dug)"
        assert newest(one)[0] == "user: hi", "its parent goes on as before"


async def test_a_child_that_begins_full_covers_only_what_it_inherits(stores: Stores) -> None:
    async with stores.open() as opened:
        one = tree(RULES, app=_of_two_windows(), store=opened.store)
        child = await _begun_full(one)
        (summariser,) = compactions(one)
        assert (await one.state(summariser)).origin.parent == child
        assert newest(one, summariser)[0].startswith("user: hi")
        assert [(o["thread_id"], o["up_to_seq"]) for o in one.outputs("compacted")] == [(child, 0)]
        await one.answer(child)
        first, opening, _, *rest = newest(one, child)
        assert first == f"user: {SUMMARY_HEAD}They greeted."
        assert opening == "assistant: call spawn_thread"
        assert rest == ["assistant: call fetch", "user: result fetch"]
        assert (await one.lines(child))[-1] == "Asst(dug)"


async def test_on_top_of_that_its_own_log_is_covered_and_its_child_sees_it(stores: Stores) -> None:
    async with stores.open() as opened:
        one = tree(RULES, app=_of_two_windows(), store=opened.store)
        child = await _begun_full(one)
        await one.say("further", child)
        grandchild = one.children[-1]
        assert newest(one, grandchild)[0] == f"user: {SUMMARY_HEAD}They greeted."
        await one.tell("compact", child)
        await one.answer(grandchild)
        assert (await one.lines(grandchild))[-1] == "Asst(dug)"
        await one.say("and?", child)
        (first,) = [line for line in newest(one, child) if SUMMARY_HEAD in line]
        assert first.startswith(f"user: {PINNED_HEAD}You are now the child thread {child}.")
        covered = [o["up_to_seq"] for o in one.outputs("compacted") if o["thread_id"] == child]
        assert covered[0] == 0
        assert covered[1] > 2


async def test_a_child_that_is_done_waits_for_no_summary_of_its_own() -> None:
    one = tree(RULES, app=small())
    child = await _dug(one)
    one.held.add(child)
    await one.tell("compact", child)
    (summariser,) = compactions(one)
    await one.answer(child)
    assert (await one.state(child)).closed
    assert "dug" in str(await one.lines())
    one.held.clear()
    await one.rest()
    assert (await one.state(summariser)).closed
    assert compacted(one) == []


async def test_a_child_whose_last_turn_fills_its_window_is_not_compacted_to_say_nothing_more() -> None:
    one = tree([on(says="dug", tool_result="fetch", depth=1, tokens=NEAR), *RULES], app=small())
    child = await _dug(one)
    await one.answer(child)
    assert compactions(one) == []
    assert (await one.state(child)).closed


async def test_the_first_user_message_can_be_pinned_for_children_too() -> None:
    one = tree(RULES, app=small(settings={"pin_first_message": True}))
    child = await _dug(one)
    await one.tell("compact", child)
    await one.answer(child)
    assert newest(one, child)[0].startswith(f"user: {PINNED_HEAD}hi\n\nYou are now the child thread")


async def test_a_fork_of_a_compacted_thread_sees_the_summary_and_can_be_compacted(stores: Stores) -> None:
    async with stores.open() as opened:
        one = tree(RULES, app=small(), store=opened.store)
        await one.say("hi")
        await one.tell("compact")
        await one.say("more")
        await fork(opened.store, ROOT, 4, "other", clock=one.world.clock)
        await one.say("even more", "other")
        assert newest(one, "other") == [
            f"user: {SUMMARY_HEAD}They greeted., more",
            "assistant: fine",
            "user: even more",
        ]
        await one.tell("compact", "other")
        await one.say("and?", "other")
        assert newest(one, "other") == [f"user: {SUMMARY_HEAD}They greeted., and?"]


async def test_a_fork_that_is_full_covers_only_what_it_inherits(stores: Stores) -> None:
    async with stores.open() as opened:
        one = tree(RULES, app=small(), store=opened.store)
        await one.say("hi " + long(1_000))
        await fork(opened.store, ROOT, 2, "other", clock=one.world.clock)
        question: Any = long(1_000, "what")
        await one.say(question, "other")
        assert [(o["thread_id"], o["up_to_seq"]) for o in one.outputs("compacted")] == [("other", 0)]
        assert newest(one, "other") == [f"user: {SUMMARY_HEAD}They greeted., {question}"]
        assert await one.lines("other") == [f"User({question})", "Asst(fine)"]
