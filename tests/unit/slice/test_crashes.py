"""The invocation dies, or a request fails: whoever comes next finishes, with the same ids (faults.md, "Crashes")."""

import pytest

from core.chunks import TextChunk
from core.errors import StoreUnavailable
from core.ports import Outgoing
from infra.memory import MemoryClock, MemoryStore
from tests.support.faulty import Crash, FaultyStore
from tests.support.inputs import THREAD, user
from tests.support.played import Turn, calls, fails, says
from tests.support.world import START, WEB, World, world

FETCH = ("fetch", {"url": "u"})
ECHO = ("echo", {"text": "hi"})


def _faulty(*turns: Turn) -> tuple[World, FaultyStore]:
    store = FaultyStore(MemoryStore(MemoryClock(START)))
    return world(*turns, store=store), store


async def _fault_free_ids() -> list[str]:
    one = world(calls(FETCH, FETCH))
    await one.run(user("go"))
    return sorted(message.id for message in one.dispatcher.sent)


def _dies_at(one: World, count: int) -> None:
    """Let the invocation die at the `count`-th send from now, once."""
    left = [count]

    async def die(message: Outgoing) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Crash

    one.dispatcher.on_send = die


async def _nothing(message: Outgoing) -> None:
    """The invocation lives."""


async def _end(one: World) -> None:
    """The end that every crash must come to."""
    assert len(one.model.requests) == 1
    assert (await one.lines()).count("User(go)") == 1
    assert len(await one.live()) == 2
    assert sorted({message.id for message in one.dispatcher.sent}) == await _fault_free_ids()
    loaded = await one.store.load(THREAD)
    assert loaded.last is not None
    assert loaded.tip == loaded.last.number == 1


SENDS = 5
"""Two calls, their deadline, two outputs."""
AFTER_THE_COMMIT = [
    *(f"send {count}" for count in range(1, SENDS + 1)),
    *(f"{when} {method}" for method in ("mark", "settled") for when in ("before", "after")),
]


@pytest.mark.parametrize("where", AFTER_THE_COMMIT)
async def test_after_the_commit_before_during_or_after_dispatch_before_the_markers_or_the_acknowledgement(
    where: str,
) -> None:
    one, store = _faulty(calls(FETCH, FETCH))
    when, _, what = where.partition(" ")
    if when == "send":
        _dies_at(one, int(what))
    else:
        getattr(store, when)[what] = Crash()
    with pytest.raises((Crash, BaseExceptionGroup)):
        await one.run(user("go"))
    report = await one.run(user("go"))
    assert (report.inputs, report.rounds) == (("duplicate",), 0)
    await _end(one)


@pytest.mark.parametrize("failure", [Crash(), StoreUnavailable("no answer")])
async def test_the_commit_was_applied_but_its_answer_lost(failure: Exception) -> None:
    one, store = _faulty(calls(FETCH, FETCH))
    store.after["commit"] = failure
    with pytest.raises(type(failure)):
        await one.run(user("go"))
    assert one.dispatcher.sent == []
    await one.run(user("go"))
    await _end(one)


async def test_another_input_settles_what_a_crash_left_before_it_commits() -> None:
    one, store = _faulty(calls(FETCH, FETCH), says("fine"))
    store.after["commit"] = Crash()
    with pytest.raises(Crash):
        await one.run(user("go"))
    await one.run(user("never mind", "m2"))
    kinds = [body["type"] for body in one.dispatcher.bodies(WEB)]
    assert kinds == ["tool_call", "tool_call", "tool_cancel", "tool_cancel"]
    assert (await one.lines())[-1] == "Asst(fine)"


async def test_before_the_answer_of_a_call_that_can_never_be_sent_is_committed() -> None:
    one, store = _faulty(calls(FETCH), says("lost"), says("without it"))
    one.dispatcher.gone = {WEB}

    async def die_at_the_answer(message: Outgoing) -> None:
        store.before["commit"] = Crash()

    one.dispatcher.on_send = die_at_the_answer
    with pytest.raises(Crash):
        await one.run(user("go"))
    assert len(await one.live()) == 1
    store.before.clear()
    one.dispatcher.on_send = _nothing
    await one.run(user("go"))
    assert (await one.lines())[-2:] == ["Result(fetch, error)", "Asst(without it)"]


async def test_metadata_of_a_commit_whose_markers_were_not_written_is_known() -> None:
    one, store = _faulty(calls(FETCH))
    store.before["mark"] = Crash()
    with pytest.raises(Crash):
        await one.run(user("go", metadata={"user_id": "u1"}))
    again = await one.manager()
    assert again.metadata == {"user_id": "u1"}
    await one.run(user("go", metadata={"user_id": "u1"}))
    bodies = [body for queue in (WEB, "output") for body in one.dispatcher.bodies(queue)]
    assert {body["metadata"].get("user_id") for body in bodies} == {"u1"}


@pytest.mark.parametrize("where", ["before load", "after load", "while streaming", "before commit"])
async def test_after_receive_after_load_while_streaming_nothing_was_written_and_the_input_is_new(
    where: str,
) -> None:
    half = fails(Crash(), TextChunk("half"))
    one, store = _faulty(half if where == "while streaming" else says("lost"), says("done"))
    if where != "while streaming":
        when, method = where.split()
        getattr(store, when)[method] = Crash()
    with pytest.raises(Crash):
        await one.run(user("go"))
    assert await one.lines() == []
    assert one.dispatcher.sent == []
    one.model.turns = [says("done")]
    report = await one.run(user("go"))
    assert report.inputs == ("accepted",)
    assert await one.lines() == ["User(go)", "Asst(done)"]


async def test_between_rounds_of_a_slice_inline_tools_no_completion_is_paid_for_twice() -> None:
    one = world(calls(ECHO), fails(Crash()), says("done"))
    with pytest.raises(Crash):
        await one.run(user("go"))
    report = await one.run(user("go"))
    assert (report.inputs, report.rounds) == (("duplicate",), 1)
    expected = ["User(go)", 'Call(echo, {"text": "hi"})', "Result(echo, hi)", "Asst(done)"]
    assert await one.lines() == expected
    assert len(one.model.requests) == 3


async def test_a_duplicate_of_settled_input_asks_and_sends_nothing() -> None:
    one = world(says("done"))
    await one.run(user("go"))
    sent = len(one.dispatcher.sent)
    report = await one.run(user("go"))
    assert (report.inputs, report.rounds, report.commits) == (("duplicate",), 0, 0)
    assert len(one.dispatcher.sent) == sent
    assert len(one.model.requests) == 1
