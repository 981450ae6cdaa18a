"""Limits, checked before the spend: rounds per slice, turns per user input, credit; and what the last completion is."""

from core.commit import Commit
from core.outbox import SendWake
from core.settings import Limits
from core.slice.round import limit_reached
from core.thread import ThreadState
from infra.memory import MemoryStore
from tests.support.inputs import THREAD, delivered, user
from tests.support.played import USAGE, calls, says
from tests.support.world import WEB, World, agent, world

ECHO = ("echo", {"text": "hi"})
FETCH = ("fetch", {"url": "u"})


def _log(one: World) -> tuple[Commit, ...]:
    assert isinstance(one.store, MemoryStore)
    return one.store.commits(THREAD)


async def test_at_the_rounds_of_a_slice_one_wake_leaves_with_the_last_round() -> None:
    one = world(calls(ECHO), calls(ECHO), says("done"))
    one.limit(rounds_per_slice=2)
    report = await one.run(user("go"))
    assert (report.rounds, report.commits) == (2, 2)
    wakes = [[type(message) for message in commit.outbox].count(SendWake) for commit in _log(one)]
    assert wakes == [0, 1]
    (wake,) = one.dispatcher.internal
    assert wake.queue == "input"
    await one.run(delivered(wake))
    assert (await one.lines())[-1] == "Asst(done)"
    assert (await one.state()).wake is None


async def test_no_wake_is_left_if_the_last_round_ends_the_work() -> None:
    one = world(calls(ECHO), says("done"))
    one.limit(rounds_per_slice=2)
    await one.run(user("go"))
    assert one.dispatcher.internal == []
    assert (await one.state()).wake is None


async def test_no_wake_is_left_while_a_worker_is_at_it() -> None:
    one = world(calls(ECHO, FETCH))
    one.limit(rounds_per_slice=1)
    await one.run(user("go"))
    assert (await one.state()).wake is None


async def test_a_duplicate_of_the_wake_goes_on_once() -> None:
    one = world(calls(ECHO), calls(ECHO), says("done"))
    one.limit(rounds_per_slice=1)
    await one.run(user("go"))
    wake = delivered(one.dispatcher.internal[-1])
    await one.run(wake)
    report = await one.run(wake)
    assert (report.inputs, report.rounds) == (("stale",), 1)
    again = await one.run(delivered(one.dispatcher.internal[-1]))
    assert again.rounds == 0
    assert (await one.lines())[-1] == "Asst(done)"


async def test_a_model_that_loops_for_ever_gets_one_last_completion_which_is_the_answer() -> None:
    one = world(calls(ECHO), calls(ECHO), calls(ECHO, FETCH, text="As far as I got."))
    one.limit(turns_per_user_input=2)
    report = await one.run(user("go"))
    assert report.rounds == 3
    assert (await one.lines())[-6:] == [
        "Asst(As far as I got.)",
        'Call(echo, {"text": "hi"})',
        'Call(fetch, {"url": "u"})',
        "Result(echo, limit)",
        "Result(fetch, limit)",
        "TurnEnd(limit)",
    ]
    assert one.dispatcher.once(WEB) == []
    answers = [(output["text"], output["final"]) for output in one.dispatcher.of_type("assistant_message")]
    assert answers == [("As far as I got.", True)]
    assert one.dispatcher.of_type("error") == []
    state = await one.state()
    assert (state.owes, state.live, state.wake) == (False, (), None)


async def test_a_last_completion_that_only_calls_is_told_as_a_limit() -> None:
    one = world(calls(ECHO), calls(ECHO))
    one.limit(turns_per_user_input=1)
    await one.run(user("go"))
    (error,) = one.dispatcher.outputs
    assert (error["type"], error["code"], error["message_id"]) == ("error", "limit", "m1")
    assert (await one.lines())[-1] == "TurnEnd(limit)"


async def test_a_last_completion_without_calls_is_an_ordinary_answer() -> None:
    one = world(calls(ECHO), says("done"))
    one.limit(turns_per_user_input=1)
    await one.run(user("go"))
    assert (await one.lines())[-1] == "Asst(done)"


async def test_turns_are_counted_anew_with_user_text() -> None:
    one = world(calls(ECHO), says("one"), calls(ECHO), says("two"))
    one.limit(turns_per_user_input=1)
    await one.run(user("1"))
    await one.run(user("2", "m2"))
    assert (await one.lines())[-2:] == ["Result(echo, hi)", "Asst(two)"]


async def test_credit_is_spent_by_what_completions_used() -> None:
    one = world(calls(ECHO), says("done"), app=agent(limits=Limits(tokens=50_000)))
    await one.run(user("go"))
    assert (await one.state()).credit == 50_000 - 2 * USAGE.total


async def test_a_model_that_spends_for_ever_gets_one_last_completion_without_credit() -> None:
    one = world(calls(ECHO, text="No more."), says("fine"), app=agent(limits=Limits(tokens=100)))
    await one.run(user("go"))
    assert (await one.lines())[-2:] == ["Result(echo, limit)", "TurnEnd(limit)"]
    assert (await one.state()).credit == 100 - USAGE.total
    one.limit(tokens=50_000)
    await one.run(user("more", "m2"))
    assert (await one.lines())[-1] == "Asst(fine)"
    assert (await one.state()).credit == 50_000 - USAGE.total


def test_a_limit_is_reached_before_the_spend() -> None:
    limits = Limits(turns_per_user_input=3)
    assert not limit_reached(ThreadState(credit=100, turns=2), limits, estimate_tokens=100)
    assert limit_reached(ThreadState(credit=99, turns=2), limits, estimate_tokens=100)
    assert limit_reached(ThreadState(credit=100, turns=3), limits, estimate_tokens=100)
