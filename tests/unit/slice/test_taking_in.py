"""Inputs that are refused, stale or the same as before, and what a batch of several changes: nothing."""

import pytest

from core.app import App
from core.errors import NotSettled, Refused
from core.messages import Input
from core.slice import SliceReport
from infra.memory import MemoryStore
from tests.support.inputs import cancel, close, message, result, user
from tests.support.played import calls, says
from tests.support.world import World, agent, world

FETCH = ("fetch", {"url": "u"})


def _codes(report: SliceReport) -> list[str]:
    return [taken.code if isinstance(taken, Refused) else taken for taken in report.inputs]


async def _parked(one: World) -> list[tuple[str, str]]:
    assert isinstance(one.store, MemoryStore)
    return [(parked.message_id, parked.reason.partition(":")[0]) for parked in await one.store.parked()]


async def test_the_same_id_with_another_body_is_refused_within_one_batch() -> None:
    one = world(says("done"))
    report = await one.run(user("go"), user("go elsewhere"), user("go"))
    assert _codes(report) == ["accepted", "conflict", "duplicate"]
    assert await one.lines() == ["User(go)", "Asst(done)"]
    assert await _parked(one) == [("m1", "conflict")]
    assert [(error["code"], error["message_id"]) for error in one.dispatcher.of_type("error")] == [
        ("conflict", "m1")
    ]


@pytest.mark.parametrize("between", [0, 3])
async def test_the_same_id_with_another_body_is_refused_days_later(between: int) -> None:
    one = world(*[says("done")] * (1 + between))
    await one.run(user("go"))
    for index in range(between):
        await one.run(user("more", f"x{index}"))
    one.clock.advance(3 * 24 * 3600)
    assert _codes(await one.run(user("go elsewhere"))) == ["conflict"]
    assert _codes(await one.run(user("go"))) == ["duplicate"]


async def test_the_same_id_under_another_type_is_another_input() -> None:
    one = world(says("done"))
    report = await one.run(user("go", "x"), cancel("x"))
    assert _codes(report) == ["accepted", "accepted"]


async def test_metadata_is_no_part_of_the_body_that_tells_a_conflict() -> None:
    one = world(says("done"))
    await one.run(user("go", metadata={"user_id": "a"}))
    assert _codes(await one.run(user("go", metadata={"user_id": "b"}))) == ["duplicate"]
    assert (await one.manager()).metadata == {"user_id": "a"}


async def test_a_refusal_repeated_is_told_under_the_same_output_id() -> None:
    one = world(says("done"))
    await one.run(user("go"))
    await one.run(user("other"))
    one.clock.advance(60)
    await one.run(user("other"))
    assert len(one.dispatcher.of_type("error")) == 1
    assert await _parked(one) == [("m1", "conflict")]


async def test_results_go_by_their_call_whatever_their_message_id() -> None:
    one = world(calls(FETCH, FETCH), says("done"))
    await one.run(user("go"))
    first, second = await one.live()
    report = await one.run(result(first, "1", "same"), result(second, "2", "same"))
    assert _codes(report) == ["accepted", "accepted"]
    assert _codes(await one.run(result(second, "changed", "same"))) == ["stale"]
    assert (await one.lines())[-3:] == ["Result(fetch, 1)", "Result(fetch, 2)", "Asst(done)"]
    assert one.dispatcher.of_type("error") == []


@pytest.mark.parametrize("thread_id", ["t1~child", "other~x"])
async def test_text_to_a_child_that_does_not_exist_is_refused(thread_id: str) -> None:
    one = world()
    one.thread_id = thread_id
    report = await one.run(message("user_message", "m1", thread_id=thread_id, content="hello"))
    assert _codes(report) == ["unknown_thread"]
    assert await one.lines() == []
    (error,) = one.dispatcher.outputs
    assert (error["thread_id"], error["root_thread_id"]) == (thread_id, thread_id.partition("~")[0])


@pytest.mark.parametrize(("taken", "code"), [(cancel(), "unknown_thread"), (close(), "unknown_thread")])
async def test_only_user_text_makes_a_thread(taken: Input, code: str) -> None:
    one = world()
    assert _codes(await one.run(taken)) == [code]
    assert (await one.state()).number == 0


async def test_a_result_for_a_thread_that_does_not_exist_changes_nothing() -> None:
    one = world()
    report = await one.run(
        result("call_x"), message("wake", "w"), message("timer", "t", due_at="2025-01-01T00:00:00Z")
    )
    assert _codes(report) == ["stale"] * 3
    assert ((await one.state()).number, one.dispatcher.sent) == (0, [])


async def test_an_unknown_agent_is_refused_when_a_thread_begins_and_ignored_after() -> None:
    one = world(says("one"), says("two"))
    assert _codes(await one.run(user("go", agent="nobody"))) == ["invalid"]
    await one.run(user("go", "m2"))
    assert _codes(await one.run(user("on", "m3", agent="nobody"))) == ["accepted"]


async def test_a_later_text_in_the_first_batch_does_not_change_the_agent() -> None:
    one = world(says("done"), app=App(agents=[agent("first"), agent("second", instructions="Be second.")]))
    await one.run(user("go", agent="second"), user("and", "m2"))
    assert (await one.state()).origin.agent == "second"
    assert one.model.requests[0].instructions == "Be second."


async def test_a_thread_made_by_the_same_batch_can_be_cancelled_and_closed() -> None:
    one = world()
    report = await one.run(user("go"), cancel(), close())
    assert _codes(report) == ["accepted"] * 3
    assert await one.lines() == ["User(go)", "TurnEnd(cancelled)"]
    assert (await one.state()).closed is True


async def test_a_closed_thread_is_stopped_and_its_closing_is_taken_in_once() -> None:
    one = world(calls(FETCH))
    await one.run(user("go"))
    await one.run(close())
    assert (await one.lines())[-2:] == ["Result(fetch, interrupted)", "TurnEnd(cancelled)"]
    state = await one.state()
    assert (state.closed, state.owes, state.live, state.timer) == (True, False, (), None)
    assert _codes(await one.run(close())) == ["duplicate"]
    assert _codes(await one.run(close("again"), cancel())) == ["closed", "closed"]
    assert await _parked(one) == []


async def test_cancelling_a_thread_at_rest_adds_nothing_to_its_history() -> None:
    one = world(says("done"))
    await one.run(user("go"))
    assert _codes(await one.run(cancel())) == ["accepted"]
    assert await one.lines() == ["User(go)", "Asst(done)"]


async def test_a_refusal_that_cannot_be_told_for_now_comes_again_and_is_told_once() -> None:
    one = world(says("done"))
    await one.run(user("go"))
    one.dispatcher.slow = {"output"}
    with pytest.raises(NotSettled):
        await one.run(user("other"))
    one.dispatcher.slow = set()
    assert _codes(await one.run(user("other"))) == ["conflict"]
    assert len(one.dispatcher.of_type("error")) == 1
    one.dispatcher.gone = {"output"}
    assert _codes(await one.run(user("yet another"))) == ["conflict"]
