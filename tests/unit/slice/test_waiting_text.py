"""User text while calls are live: it interrupts, or it waits its turn (architecture.md, "Interruption", "Deferral")."""

from core.app import App
from core.changes import InputDeferred
from core.commit import Commit
from infra.memory import MemoryStore
from tests.support.inputs import THREAD, result, user
from tests.support.played import calls, says
from tests.support.world import WEB, World, agent, world

FETCH = ("fetch", {"url": "u"})


async def _busy(*more: str) -> World:
    """A thread with one call live, and these texts waiting."""
    one = world(calls(FETCH), says("done"))
    await one.run(user("go"))
    for index, words in enumerate(more):
        await one.run(user(words, f"w{index}", on_busy="queue"))
    return one


async def test_the_order_is_results_then_deferred_then_new() -> None:
    one = await _busy("first", "second")
    (call_id,) = await one.live()
    report = await one.run(result(call_id), user("new", "m3"))
    assert report.inputs == ("accepted", "accepted")
    assert (await one.lines())[-5:] == [
        "Result(fetch, out)",
        "User(first)",
        "User(second)",
        "User(new)",
        "Asst(done)",
    ]
    assert len(one.model.requests) == 2
    assert (await one.state()).deferred == ()


async def test_interrupting_text_lets_what_waits_join_before_it() -> None:
    one = await _busy("waiting")
    await one.run(user("stop that", "m3"))
    assert (await one.lines())[-4:] == [
        "Result(fetch, interrupted)",
        "User(waiting)",
        "User(stop that)",
        "Asst(done)",
    ]
    assert [body["type"] for body in one.dispatcher.bodies(WEB)] == ["tool_call", "tool_cancel"]


async def test_deferred_text_keeps_the_id_of_its_message_and_is_taken_in_once() -> None:
    one = await _busy("waiting")
    again = await one.run(user("waiting", "w0", on_busy="queue"))
    assert again.inputs == ("duplicate",)
    (call_id,) = await one.live()
    await one.run(result(call_id))
    joined = [entry for entry in await one.store.entries(THREAD) if entry.message_id == "w0"]
    assert [entry.kind for entry in joined] == ["user"]
    late = await one.run(user("waiting", "w0", on_busy="queue"))
    assert late.inputs == ("duplicate",)


async def test_deferred_text_stands_in_the_commit_that_marks_it_processed() -> None:
    one = await _busy("waiting")
    assert isinstance(one.store, MemoryStore)
    commit: Commit = one.store.commits(THREAD)[-1]
    assert [taken.message_id for taken in commit.consumed] == ["w0"]
    assert [type(change) for change in commit.changes if isinstance(change, InputDeferred)] == [InputDeferred]


async def test_text_waits_by_the_agents_habit_unless_the_message_says() -> None:
    one = await _busy()
    one.app = App(agents=[agent(on_busy="queue")])
    await one.run(user("waits", "m2"))
    assert len(await one.live()) == 1
    await one.run(user("does not", "m3", on_busy="interrupt"))
    assert await one.live() == []


async def test_at_the_bound_of_waiting_inputs_text_is_refused_as_busy() -> None:
    one = await _busy("first", "second")
    one.limit(deferred_inputs=2)
    report = await one.run(user("third", "m3", on_busy="queue"))
    assert [getattr(one, "code", one) for one in report.inputs] == ["busy"]
    (error,) = one.dispatcher.of_type("error")
    assert (error["code"], error["message_id"], error["retryable"]) == ("busy", "m3", True)
    assert len((await one.state()).deferred) == 2
    await one.run(user("urgent", "m4", on_busy="interrupt"))
    assert (await one.lines())[-2] == "User(urgent)"


async def test_with_nothing_live_there_is_nothing_to_wait_for() -> None:
    one = world(says("at once"))
    await one.run(user("go", on_busy="queue"))
    assert await one.lines() == ["User(go)", "Asst(at once)"]


async def test_waiting_text_renews_turns_and_credit_when_it_comes() -> None:
    one = await _busy("waiting")
    state = await one.state()
    assert (state.turns, state.credit) == (0, one.app.agent().limits.tokens)


async def test_a_result_arriving_at_the_same_moment_as_the_users_interruption_stands_if_it_is_first() -> None:
    one = await _busy()
    (call_id,) = await one.live()
    await one.run(result(call_id), user("never mind", "m2"))
    assert "Result(fetch, out)" in await one.lines()
    other = await _busy()
    (call_id,) = await other.live()
    report = await other.run(user("never mind", "m2"), result(call_id))
    assert report.inputs == ("accepted", "stale")
    assert "Result(fetch, interrupted)" in await other.lines()
