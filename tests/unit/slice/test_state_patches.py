"""`state_patch` of workers: validated when the result is taken in, and in its commit; a misfit changes nothing."""

from typing import Any

import pytest

from core.entries import ToolResult
from core.render import plain_text
from core.state import AgentState
from core.state.edits import SetAt
from tests.support.inputs import THREAD, result, user
from tests.support.played import calls, says
from tests.support.stateful import noting, recorded
from tests.support.world import World, agent, world

FETCH = ("fetch", {"url": "u"})
SOURCE = {"url": "https://a", "title": "A", "snippet": ""}


async def fetching(count: int = 1, **fields: Any) -> tuple[World, list[str]]:
    """Calls at a worker; the ids of those that are live."""
    one = world(calls(*[FETCH] * count), says("done"), app=noting(**fields))
    await one.run(user("go"))
    return one, await one.live()


async def newest_result(one: World) -> tuple[str, list[str]]:
    found = [entry for entry in await one.store.entries(THREAD) if isinstance(entry, ToolResult)]
    return found[-1].outcome, plain_text(found[-1].content).split("\n")


async def test_a_workers_patch_is_stored_in_the_commit_that_takes_its_result() -> None:
    one, (call_id,) = await fetching()
    await one.run(result(call_id, state_patch={"count": 2, "notes": ["x"]}))
    assert (await one.state()).stored_state == {"count": 2, "notes": ["x"]}
    assert recorded(one) == [(), (SetAt(path=("notes",), value=["x"]), SetAt(path=("count",), value=2))]
    assert await newest_result(one) == ("ok", ["out"])


@pytest.mark.parametrize(
    "patch",
    [{"count": "many"}, {"count": 1, "unknown": 1}, {"messages": []}, {"message_history": []}, {"notes": 1}],
)
async def test_a_patch_that_does_not_fit_is_an_error_result_and_changes_nothing(
    patch: dict[str, Any],
) -> None:
    one, (call_id,) = await fetching()
    await one.run(result(call_id, state_patch=patch, sources=[SOURCE]))
    outcome, (told, content) = await newest_result(one)
    assert (outcome, content) == ("error", "out")
    assert next(iter(set(patch) - {"count"} or patch)) in told
    assert recorded(one) == [(), ()]
    assert one.dispatcher.of_type("assistant_message")[-1]["citations"] == [SOURCE]
    assert one.dispatcher.of_type("error") == []


async def test_patches_of_one_batch_follow_on_each_other() -> None:
    one, (first, second) = await fetching(2)
    patches = [{"notes": ["a"], "count": 1}, {"count": None}]
    await one.run(result(first, state_patch=patches[0]), result(second, state_patch=patches[1]))
    assert (await one.state()).stored_state == {"notes": ["a"], "count": 0}


async def test_a_patch_that_changes_nothing_records_nothing() -> None:
    one, (first, second) = await fetching(2)
    await one.run(result(first, state_patch={"count": 0}), result(second, state_patch={}))
    assert recorded(one) == [(), ()]


async def test_a_patch_that_comes_late_or_again_changes_nothing() -> None:
    one, (first, second) = await fetching(2)
    await one.run(result(first, state_patch={"count": 1}))
    again = [
        result(first, state_patch={"count": 1}),
        result(first, message_id="r2", state_patch={"count": 2}),
    ]
    report = await one.run(*again)
    assert report.inputs == ("stale", "stale")
    await one.run(user("never mind", "m2"))
    report = await one.run(result(second, state_patch={"count": 3}))
    assert report.inputs == ("stale",)
    assert (await one.state()).stored_state == {"notes": [], "count": 1}


async def test_the_dead_letter_handler_takes_patches_too() -> None:
    one, (call_id,) = await fetching()
    await one.run(result(call_id, state_patch={"count": 7}), completing=False)
    assert ((await one.state()).stored_state or {})["count"] == 7


async def test_without_a_state_type_any_object_is_a_patch() -> None:
    one = world(calls(FETCH), says("done"), app=agent())
    await one.run(user("go"))
    await one.run(result((await one.live())[0], state_patch={"a": {"b": [1, 0.5, None]}}))
    assert (await one.state()).stored_state == {"a": {"b": [1, 0.5, None]}}


async def test_a_report_is_patched_and_what_is_a_view_is_not() -> None:
    one, (first, second) = await fetching(2, state_type=AgentState)
    await one.run(result(first, state_patch={"report": "found", "step": 1}))
    await one.run(result(second, state_patch={"sources": [SOURCE]}))
    assert ((await one.state()).stored_state or {})["report"] == "found"
    assert (await newest_result(one))[0] == "error"
