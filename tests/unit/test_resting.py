"""When a tree of threads rests: `torpor chat` waits for exactly that."""

from infra.local.resting import look
from tests.support.rules import FETCH, on, spawn, task
from tests.support.tree import ROOT, Tree, tree


async def _rests(one: Tree) -> bool:
    return (await look(one.world.store, ROOT)).rests


def _tree() -> Tree:
    return tree([on(spawn("dig"), user="go"), on(FETCH, **task("dig")), on(says="fine")])


async def test_what_is_not_there_yet_does_not_rest() -> None:
    one = _tree()
    seen = await look(one.world.store, ROOT)
    assert (seen.rests, seen.last_seq) == (False, 0)


async def test_an_answered_thread_rests() -> None:
    one = _tree()
    await one.say("hello")
    seen = await look(one.world.store, ROOT)
    assert (seen.rests, seen.last_seq) == (True, 2)


async def test_a_child_on_its_way_at_work_or_with_its_report_on_the_way_is_waited_for() -> None:
    one = _tree()
    await one.visit(one.message("user_message", content="go"))
    assert not await _rests(one)
    await one.rest()
    assert not await _rests(one)
    one.held.add(ROOT)
    await one.answer(one.children[0])
    assert (await one.state(one.children[0])).closed
    assert not await _rests(one)
    one.held.clear()
    await one.rest()
    assert await _rests(one)


async def test_a_child_that_waits_for_events_only_is_not_waited_for() -> None:
    one = _tree()
    await one.say("go")
    await one.answer(one.children[0], "watching", subscription=True)
    assert len((await one.state()).children) == 1
    assert await _rests(one)


async def test_a_model_that_is_asked_again_later_is_waited_for() -> None:
    one = tree([on(error="throttled")])
    await one.say("hello")
    assert not await _rests(one)


async def test_a_thread_that_sleeps_until_something_comes_rests_and_one_that_sleeps_for_a_time_does_not() -> (
    None
):
    one = tree(
        [
            on(("sleep_until_event_or_input", {}), user="wait"),
            on(("sleep", {"seconds": 60}), user="nap"),
            on(says="up"),
        ]
    )
    await one.say("wait")
    assert await _rests(one)
    await one.say("nap")
    assert not await _rests(one)
