"""Dead-letter mode: a slice without completion, for input that used up its tries (architecture.md, "Dead letters")."""

import pytest

from core.errors import ModelUnavailable
from core.ports import Outgoing
from tests.support.faulty import Crash
from tests.support.inputs import cancel, delivered, message, result, user
from tests.support.played import calls, fails, says
from tests.support.world import WEB, World, world

FETCH = ("fetch", {"url": "u"})
ECHO = ("echo", {"text": "hi"})


def _errors(one: World) -> list[tuple[str, str]]:
    return [(error["code"], error["message_id"]) for error in one.dispatcher.of_type("error")]


async def test_the_input_exhausts_its_retries_and_its_text_is_kept_and_its_debt_ended() -> None:
    one = world(says("back"))
    report = await one.run(user("go"), completing=False)
    assert (report.inputs, report.rounds) == (("accepted",), 0)
    assert await one.lines() == ["User(go)", "TurnEnd(failed)"]
    assert _errors(one) == [("dead_letter", "m1")]
    state = await one.state()
    assert (state.owes, state.wake) == (False, None)
    await one.run(user("now?", "m2"))
    assert (await one.lines())[-1] == "Asst(back)"


async def test_text_that_was_taken_in_by_a_round_that_stands_ends_its_debt_too() -> None:
    one = world(calls(ECHO), fails(Crash()))
    with pytest.raises(Crash):
        await one.run(user("go"))
    report = await one.run(user("go"), completing=False)
    assert report.inputs == ("duplicate",)
    assert (await one.lines())[-2:] == ["Result(echo, hi)", "TurnEnd(failed)"]
    assert _errors(one) == [("dead_letter", "m1")]


async def test_the_last_commit_is_settled_with_its_ids() -> None:
    one = world(calls(FETCH))

    async def die(outgoing: Outgoing) -> None:
        raise Crash

    one.dispatcher.on_send = die
    with pytest.raises(BaseExceptionGroup):
        await one.run(user("go"))
    loaded = await one.store.load(one.thread_id)
    assert loaded.tip == 0

    async def live(outgoing: Outgoing) -> None:
        return

    one.dispatcher.on_send = live
    await one.run(user("go"), completing=False)
    assert [body["type"] for body in one.dispatcher.bodies(WEB)] == ["tool_call"]
    assert (await one.state()).owes is True
    assert _errors(one) == []


async def test_text_never_interrupts_but_waits_whatever_it_says() -> None:
    one = world(calls(FETCH), says("both"))
    await one.run(user("go"))
    (call_id,) = await one.live()
    await one.run(user("stop!", "m2", on_busy="interrupt"), completing=False)
    assert await one.live() == [call_id]
    state = await one.state()
    assert (state.owes, state.owes_to, len(state.deferred)) == (True, "m2", 1)
    assert _errors(one) == []
    await one.run(result(call_id))
    assert (await one.lines())[-3:] == ["Result(fetch, out)", "User(stop!)", "Asst(both)"]


async def test_a_newer_debt_is_left_a_wake() -> None:
    one = world(calls(ECHO), fails(Crash()), says("to both"))
    with pytest.raises(Crash):
        await one.run(user("first", "m1"), user("second", "m2"))
    report = await one.run(user("first", "m1"), completing=False)
    assert (report.inputs, report.commits) == (("duplicate",), 1)
    assert "TurnEnd(failed)" not in await one.lines()
    assert (await one.state()).owes_to == "m2"
    (wake,) = one.dispatcher.internal
    assert wake.queue == "input"
    await one.run(delivered(wake))
    assert (await one.lines())[-1] == "Asst(to both)"


async def test_a_result_is_taken_in_and_a_wake_goes_on() -> None:
    one = world(calls(FETCH), says("done"))
    await one.run(user("go"))
    (call_id,) = await one.live()
    report = await one.run(result(call_id), completing=False)
    assert (report.inputs, report.rounds) == (("accepted",), 0)
    assert (await one.lines())[-1] == "Result(fetch, out)"
    assert (await one.state()).owes is True
    assert _errors(one) == []
    await one.run(delivered(one.dispatcher.internal[-1]))
    assert (await one.lines())[-1] == "Asst(done)"


async def test_one_wake_is_enough() -> None:
    one = world(calls(FETCH, FETCH))
    await one.run(user("go"))
    for call_id in await one.live():
        await one.run(result(call_id), completing=False)
    await one.run(result("call_unknown"), completing=False)
    assert [sent.queue for sent in one.dispatcher.internal] == ["delay", "input"]


async def test_a_dead_pending_wake_ends_the_debt() -> None:
    one = world(*[fails(ModelUnavailable("down"))] * 3)
    await one.run(user("go"))
    one.clock.advance(3600)
    await one.run(delivered(one.dispatcher.internal[-1]), completing=False)
    assert await one.lines() == ["User(go)", "TurnEnd(failed)"]
    assert _errors(one) == [("dead_letter", "m1")]
    state = await one.state()
    assert (state.owes, state.wake) == (False, None)


async def test_a_dead_wake_that_nobody_waits_for_ends_nothing() -> None:
    one = world(*[fails(ModelUnavailable("down"))] * 3)
    await one.run(user("go"))
    pending = (await one.state()).wake
    report = await one.run(message("wake", "stale"), completing=False)
    assert (report.inputs, report.commits) == (("stale",), 0)
    state = await one.state()
    assert (state.owes, state.wake) == (True, pending)


async def test_another_text_under_an_accepted_id_ends_nothing_either() -> None:
    on = world(*[fails(ModelUnavailable("throttled"))] * 3)
    await on.run(user("the right one", "m1"))
    await on.run(user("another", "m1"), completing=False)
    state = await on.state()
    assert (state.owes, state.owes_to) == (True, "m1")
    assert state.wake is not None
    assert [error["code"] for error in on.dispatcher.of_type("error")] == ["conflict"]


async def test_cancel_works_as_ever() -> None:
    one = world(calls(FETCH))
    await one.run(user("go"))
    await one.run(cancel(), completing=False)
    assert (await one.lines())[-1] == "TurnEnd(cancelled)"
    assert await one.live() == []
    assert _errors(one) == []


async def test_refusals_are_told_and_acknowledged() -> None:
    one = world()
    one.limit(deferred_inputs=1)
    one.model.play(calls(FETCH))
    await one.run(user("go"))
    await one.run(user("waits", "m2"), completing=False)
    await one.run(user("no room", "m3"), completing=False)
    assert _errors(one) == [("busy", "m3")]
