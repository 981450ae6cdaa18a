"""What a slice tells its witness: phases in order, what became of inputs, commits and calls, and no more than that."""

from datetime import timedelta

from core.correlation import correlation_of
from core.facts import (
    CallDispatched,
    CallEnded,
    Committed,
    Entered,
    Fact,
    InputTaken,
    RaceLost,
    Settled,
    ThreadSeen,
    ThreadSpawned,
    TimerArmed,
    WakeArmed,
)
from tests.support.inputs import cancel, result, user
from tests.support.played import calls, says
from tests.support.rules import on, spawn
from tests.support.tree import tree
from tests.support.world import START, WEB, World, world


def phases(one: World) -> list[str]:
    return [fact.phase for fact in one.witness.of(Entered)]


def kinds(one: World) -> list[type[Fact]]:
    """All but phases."""
    return [type(fact) for fact in one.witness.facts if not isinstance(fact, Entered)]


async def test_a_text_turn_in_order() -> None:
    one = world(says("hello"))
    await one.run(user("hi"))
    assert phases(one) == ["load", "settle", "accept", "round", "commit", "dispatch"]
    assert kinds(one) == [ThreadSeen, InputTaken, Committed, Settled]
    (committed,) = one.witness.of(Committed)
    assert (committed.entries, committed.consumed, dict(committed.messages)) == (
        2,
        1,
        {"assistant_message": 1},
    )
    assert one.witness.of(Settled) == [Settled(1, {"output": 1})]


async def test_calls_go_out_and_come_back() -> None:
    one = world(calls(("fetch", {"url": "u"})), says("done"))
    await one.run(user("go"))
    (call_id,) = await one.live()
    (sent,) = one.witness.of(CallDispatched)
    assert (sent.call_id, sent.worker, sent.deadline_at) == (call_id, "web", START + timedelta(seconds=600))
    assert one.witness.of(TimerArmed) == [TimerArmed(sent.deadline_at)]
    await one.run(result(call_id))
    assert one.witness.of(CallEnded) == [CallEnded(call_id, "ok")]
    await one.run(result(call_id))
    assert [fact.commit for fact in one.witness.of(ThreadSeen)] == [0, 1, 2], "the newest that was loaded"
    taken = [(fact.type, fact.result, fact.call_id) for fact in one.witness.of(InputTaken)]
    assert taken[1:] == [("tool_result", "accepted", call_id), ("tool_result", "stale", call_id)]


async def test_an_interruption_and_a_refusal() -> None:
    one = world(calls(("fetch", {"url": "u"})))
    await one.run(user("go"))
    await one.run(cancel())
    assert [fact.outcome for fact in one.witness.of(CallEnded)] == ["interrupted"]
    await one.run(user("something else", "m1"))
    assert [(f.result, f.code) for f in one.witness.of(InputTaken)][-1] == ("refused", "conflict")


async def test_a_message_that_is_carried_on_and_one_that_is_given_up_are_told_with_the_reason() -> None:
    one = world(calls(("fetch", {"url": "u"})), says("done"))
    one.dispatcher.slow = {"output"}
    one.dispatcher.gone = {WEB}
    await one.run(user("go"))
    left = [(o.queue, o.reason, o.carried) for fact in one.witness.of(Settled) for o in fact.left]
    assert (WEB, "gone", False) in left
    assert ("output", "slow", True) in left
    assert "resend" in {fact.reason for fact in one.witness.of(WakeArmed)}


async def test_a_lost_race_is_told_and_what_it_would_have_done_is_not() -> None:
    one = world(calls(("fetch", {"url": "lost"})), says("to m1"))
    other = world(says("to m2"), store=one.store)

    async def overtake() -> None:
        if len(one.model.requests) == 1:
            await other.run(user("m2", "m2"))

    one.model.on_request = overtake
    await one.run(user("m1", "m1"))
    assert one.witness.of(RaceLost) == [RaceLost()]
    assert [fact.commit for fact in one.witness.of(Committed)] == [2]
    assert one.witness.of(CallDispatched) == []


async def test_a_child_on_its_way_is_told() -> None:
    one = tree([on(spawn("dig"), user="go"), on(says="fine")])
    await one.say("go")
    assert one.world.witness.of(ThreadSpawned) == [ThreadSpawned(one.children[0], "spawned")]


async def test_a_slice_goes_back_to_the_first_input_that_counts() -> None:
    one = world(says("to m1"), says("to m2"))
    await one.run(user("m1", "m1"))
    await one.run(user("m1", "m1"), user("m2", "m2"))
    assert one.witness.of(ThreadSeen)[-1].correlation_id == correlation_of("t1", "m2")
