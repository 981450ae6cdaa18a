"""A model that does not answer, for now or for good (architecture.md, "Model failures")."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.chunks import CallChunk, ReasoningBlock, TextChunk
from core.errors import DefinitionError, ModelOverflow, ModelRefused, ModelUnavailable
from core.ports import Model
from core.request import ResultPart
from core.slice import run_slice
from core.slice.notices import TurnDiscarded
from core.thread import PendingWake
from tests.support.inputs import cancel, delivered, message, result, user
from tests.support.played import Turn, calls, fails, says, signed
from tests.support.world import START, World, world

DOWN = fails(ModelUnavailable("throttled"))
SLICE_OF_FAILURES = [DOWN] * 3
FETCH = ("fetch", {"url": "u"})


async def _pending(one: World) -> PendingWake:
    wake = (await one.state()).wake
    assert wake is not None
    return wake


async def _down(*then: Turn) -> World:
    """A thread whose first slice could not reach the model."""
    one = world(*SLICE_OF_FAILURES, *then)
    await one.run(user("go"))
    return one


@pytest.mark.parametrize(
    "failure",
    [DOWN, fails(ModelUnavailable("cut"), TextChunk("half an ans")), [TextChunk("no end marker")]],
    ids=["throttled", "disconnected", "without its end marker"],
)
async def test_the_model_throttles_or_disconnects_in_mid_stream_and_is_asked_again_from_clean_history(
    failure: Turn,
) -> None:
    one = world(failure, says("whole"))
    report = await one.run(user("go"))
    assert (report.rounds, report.commits) == (1, 1)
    assert await one.lines() == ["User(go)", "Asst(whole)"]
    assert any(isinstance(event, TurnDiscarded) for event in one.observer.events)
    first, second = one.model.requests
    assert second == replace(first, context=replace(first.context, attempt=2))
    assert one.clock.now() > START


async def test_after_the_tries_of_a_slice_the_input_is_committed_with_a_delayed_wake() -> None:
    one = await _down()
    assert await one.lines() == ["User(go)"]
    state, wake = await one.state(), await _pending(one)
    assert state.owes is True
    assert (wake.reason, wake.tries) == ("model", 3)
    assert wake.due_at is not None
    assert wake.due_at > one.clock.now()
    (sent,) = one.dispatcher.internal
    assert (sent.queue, sent.due_at, sent.id) == ("delay", wake.due_at, wake.id)
    assert one.dispatcher.outputs == []


async def test_the_due_wake_tries_again_and_counts_the_tries_over_slices() -> None:
    one = await _down(says("back"))
    one.clock.advance(3600)
    report = await one.run(delivered(one.dispatcher.internal[-1]))
    assert report.inputs == ("accepted",)
    assert one.model.requests[-1].context.attempt == 4
    assert await one.lines() == ["User(go)", "Asst(back)"]
    assert (await one.state()).wake is None


async def test_each_failed_slice_waits_longer() -> None:
    one = await _down(*SLICE_OF_FAILURES)
    first = await _pending(one)
    assert first.due_at is not None
    gap = first.due_at - one.clock.now()
    one.clock.advance(3600)
    await one.run(delivered(one.dispatcher.internal[-1]))
    second = await _pending(one)
    assert second.tries == 6
    assert second.due_at is not None
    assert second.due_at - one.clock.now() > gap


async def test_a_wake_before_it_is_due_is_armed_again_and_tries_nothing() -> None:
    one = await _down()
    before, early = await _pending(one), one.dispatcher.internal[-1]
    report = await one.run(delivered(early))
    assert (report.inputs, report.rounds) == (("accepted",), 0)
    after = await _pending(one)
    assert after.id != before.id
    assert (after.due_at, after.tries) == (before.due_at, before.tries)
    assert one.dispatcher.internal[-1].id == after.id


async def test_a_wake_that_is_not_the_pending_one_does_nothing() -> None:
    one = await _down(*SLICE_OF_FAILURES)
    old = delivered(one.dispatcher.internal[-1])
    one.clock.advance(3600)
    await one.run(old)
    number = (await one.state()).number
    report = await one.run(old)
    assert (report.inputs, report.rounds, report.commits) == (("stale",), 0, 0)
    assert (await one.state()).number == number


async def test_cancel_gets_through_while_a_retry_is_pending() -> None:
    one = await _down()
    wake = one.dispatcher.internal[-1]
    await one.run(cancel())
    assert await one.lines() == ["User(go)", "TurnEnd(cancelled)"]
    state = await one.state()
    assert (state.owes, state.wake) == (False, None)
    one.clock.advance(3600)
    report = await one.run(delivered(wake))
    assert (report.inputs, report.rounds) == (("stale",), 0)


async def test_new_text_gets_through_before_the_retry_is_due_and_begins_anew() -> None:
    one = await _down(says("both"))
    report = await one.run(user("and?", "m2"))
    assert report.rounds == 1
    assert one.model.requests[-1].context.attempt == 1
    assert await one.lines() == ["User(go)", "User(and?)", "Asst(both)"]
    assert (await one.state()).wake is None


async def test_a_turn_of_calls_ends_the_retry_as_well() -> None:
    one = await _down(calls(FETCH))
    await one.run(user("and?", "m2"))
    state = await one.state()
    assert (len(state.live), state.wake) == (1, None)


async def test_the_next_completion_of_a_slice_has_its_own_tries() -> None:
    one = await _down(calls(("echo", {"text": "hi"})), says("done"))
    one.clock.advance(3600)
    await one.run(delivered(one.dispatcher.internal[-1]))
    assert [request.context.attempt for request in one.model.requests] == [1, 2, 3, 4, 1]


@pytest.mark.parametrize("twice", [user("go"), result("call_unknown"), result("call_x", sources=[])])
async def test_nothing_but_new_input_tries_before_the_retry_is_due(twice: object) -> None:
    one = await _down()
    report = await one.run(twice)  # type: ignore[arg-type]
    assert report.rounds == 0
    assert len(one.model.requests) == 3


async def test_the_last_try_ends_the_turn_and_says_so() -> None:
    one = await _down(
        *SLICE_OF_FAILURES, DOWN, fails(ModelUnavailable("gone"), TextChunk("as far"), signed("hm"))
    )
    for _ in range(2):
        one.clock.advance(3600)
        await one.run(delivered(one.dispatcher.internal[-1]))
    assert len(one.model.requests) == 8
    assert await one.lines() == ["User(go)", "Asst(as far)", "TurnEnd(failed)"]
    (error,) = one.dispatcher.outputs
    assert (error["type"], error["code"], error["message_id"]) == ("error", "model", "m1")
    state = await one.state()
    assert (state.owes, state.wake) == (False, None)
    one.model.play(says("here"))
    await one.run(user("now?", "m2"))
    assert (await one.lines())[-2:] == ["User(now?)", "Asst(here)"]


async def test_calls_of_a_turn_that_is_given_up_are_answered_and_not_run() -> None:
    turn = fails(
        ModelUnavailable("gone"), CallChunk("echo", {"text": "no"}), CallChunk("fetch", {"url": "u"})
    )
    one = world(turn)
    one.limit(model_tries=1)
    await one.run(user("go"))
    assert (await one.lines())[-3:] == ["Result(echo, error)", "Result(fetch, error)", "TurnEnd(failed)"]
    assert one.dispatcher.once("worker:web") == []


async def test_the_model_refuses_the_request_for_good_and_is_never_asked_again() -> None:
    one = world(fails(ModelRefused("guardrail")), says("sure"))
    report = await one.run(user("go"))
    assert (report.rounds, len(one.model.requests)) == (1, 1)
    assert await one.lines() == ["User(go)", "TurnEnd(failed)"]
    (error,) = one.dispatcher.outputs
    assert (error["code"], error["message_id"]) == ("model", "m1")
    assert (await one.state()).owes is False
    await one.run(user("something else", "m2"))
    assert (await one.lines())[-1] == "Asst(sure)"


async def _overflowing(*turns: Turn) -> World:
    """A thread whose long result makes the model's window overflow."""
    one = world(calls(FETCH), fails(ModelOverflow("too long")), *turns)
    one.limit(result_characters=2000)
    await one.run(user("go"))
    (call_id,) = await one.live()
    await one.run(result(call_id, "x" * 3000))
    return one


def _shown(one: World, index: int) -> int:
    part = one.model.requests[index].messages[-1].parts[0]
    assert isinstance(part, ResultPart)
    return sum(str(block).count("x") for block in part.content)


async def test_overflow_shows_less_of_the_results_once_and_goes_on() -> None:
    one = await _overflowing(says("short"))
    assert _shown(one, 1) >= 2000
    assert _shown(one, 2) <= 200
    assert (await one.lines())[-1] == "Asst(short)"


async def test_an_overflow_that_shrinking_and_compacting_do_not_mend_ends_the_turn() -> None:
    one = await _overflowing(fails(ModelOverflow("still too long")))
    child = (await one.state()).compaction
    assert child is not None
    assert len(one.model.requests) == 3
    one.model.play(fails(ModelOverflow("too long")), fails(ModelOverflow("still too long")))
    await one.run(message("compaction_done", "d", child_thread_id=child.thread_id))
    assert (await one.lines())[-1] == "TurnEnd(failed)"
    assert [output["code"] for output in one.dispatcher.of_type("error")] == ["overflow"]
    assert (await one.state()).owes is False


async def test_without_time_for_a_completion_the_input_is_kept_and_a_wake_goes_on() -> None:
    one = world(says("done"))
    report = await one.run(user("go"), seconds_left=9)
    assert (report.rounds, report.commits) == (0, 1)
    (wake,) = one.dispatcher.internal
    assert wake.queue == "input"
    await one.run(delivered(wake))
    assert await one.lines() == ["User(go)", "Asst(done)"]


async def test_a_model_is_too_slow_for_the_time_left_and_a_delayed_wake_tries_again() -> None:
    one = world(DOWN)
    await one.run(user("go"), seconds_left=10.5)
    assert (await _pending(one)).tries == 1
    assert one.clock.now() - START < timedelta(seconds=1)


async def test_unsigned_reasoning_is_never_sent_back() -> None:
    one = world([ReasoningBlock("hm"), *says("one")], says("two"))
    one.model = type(one.model)(*one.model.turns, signs_reasoning=False)
    await one.run(user("1"))
    await one.run(user("2", "m2"))
    assert (await one.lines())[-1] == "Asst(two)"
    assert "hm" not in str(one.model.requests[-1].messages)


async def test_a_slice_without_time_keeps_the_tries_of_the_retry_it_takes() -> None:
    one = world(*SLICE_OF_FAILURES)
    await one.run(user("go"))
    one.clock.advance(3600)
    await one.run(delivered(one.dispatcher.internal[-1]), seconds_left=1.0)
    assert ((await _pending(one)).reason, (await _pending(one)).tries) == ("continue", 3)
    one.model.play(says("here"))
    await one.run(delivered(one.dispatcher.internal[-1]))
    assert one.model.requests[-1].context.attempt == 4


async def test_new_text_in_a_slice_without_time_still_resets_the_tries() -> None:
    one = world(*SLICE_OF_FAILURES)
    await one.run(user("go"))
    assert (await _pending(one)).tries == 3
    await one.run(user("and?", "m2"), seconds_left=1.0)
    assert (await _pending(one)).reason == "continue"
    one.model.play(says("here"))
    await one.run(delivered(one.dispatcher.internal[-1]))
    assert one.model.requests[-1].context.attempt == 1


async def test_a_model_that_cannot_be_had_is_told_and_the_next_deployment_answers() -> None:
    on = world(says("back"))
    gone = replace(on.ports, models=_no_model)
    await run_slice(on.app, gone, on.thread_id, [user("hello")], seconds_left=lambda: 60.0)
    assert on.dispatcher.of_type("error")[-1]["code"] == "model"
    assert not (await on.state()).owes
    await on.run(user("again", "m2"))
    assert on.dispatcher.of_type("assistant_message")[-1]["text"] == "back"


def _no_model(name: str) -> Model:
    raise DefinitionError(f"model {name!r} cannot be had")
