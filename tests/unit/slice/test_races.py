"""Invariant *one writer*, over both stores: of two slices of one thread one commits, and no input is lost."""

import asyncio

import pytest

from core.errors import LostRace
from core.history import HistoryManager
from core.ports import Outgoing
from tests.contract.stores import Stores
from tests.support.inputs import THREAD, result, user
from tests.support.lines import lines
from tests.support.played import calls, says
from tests.support.threads import empty, text
from tests.support.world import WEB, World, world


async def test_two_managers_one_commits_the_other_loads_again(stores: Stores) -> None:
    async with stores.open() as opened:
        clock = world().clock
        one, two = await empty(opened.store, clock), await empty(opened.another(), clock)
        one.handle_content(text("from one"), "m1")
        two.handle_content(text("from two"), "m2")
        outcomes = await asyncio.gather(one.sync(), two.sync(), return_exceptions=True)
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Commit", "LostRace"]
        lost, word, message_id = (
            (one, "one", "m1") if isinstance(outcomes[0], LostRace) else (two, "two", "m2")
        )
        again = await HistoryManager.new_with_history(opened.another(), lost.thread_id, clock=clock)
        assert again.handle_content(text(f"from {word}"), message_id) is True
        await again.sync()
        assert sorted(lines(await opened.store.entries(THREAD))) == ["User(from one)", "User(from two)"]


def _meanwhile(one: World, other: World, message_id: str) -> None:
    """While `one` streams for the first time, `other` runs a whole slice of the same thread."""

    async def run() -> None:
        if len(one.model.requests) == 1:
            await other.run(user(message_id, message_id))

    one.model.on_request = run


async def test_the_commit_loses_the_race_for_its_number_and_no_input_is_lost(stores: Stores) -> None:
    async with stores.open() as opened:
        one = world(says("lost"), says("to m1"), store=opened.store)
        other = world(says("to m2"), store=opened.another())
        _meanwhile(one, other, "m2")
        report = await one.run(user("m1", "m1"))
        assert report.inputs == ("accepted",)
        assert await one.lines() == ["User(m2)", "Asst(to m2)", "User(m1)", "Asst(to m1)"]
        said = [output["text"] for output in one.dispatcher.outputs + other.dispatcher.outputs]
        assert sorted(said) == ["to m1", "to m2"]


async def test_two_slices_with_the_same_input_take_it_in_once(stores: Stores) -> None:
    async with stores.open() as opened:
        one = world(calls(("fetch", {"url": "lost"})), store=opened.store)
        other = world(calls(("fetch", {"url": "won"})), store=opened.another())
        _meanwhile(one, other, "m1")
        report = await one.run(user("m1", "m1"))
        assert report.inputs == ("duplicate",)
        assert await one.lines() == ["User(m1)", 'Call(fetch, {"url": "won"})']
        assert one.dispatcher.once(WEB) == []
        (call_id,) = await one.live()
        one.model.play(says("done"))
        await one.run(result(call_id))
        assert (await one.lines())[-1] == "Asst(done)"


async def test_an_old_invocation_wakes_up_after_its_successor_committed(stores: Stores) -> None:
    """It was stopped in mid-dispatch: what it sends again is dropped by id, and it moves nothing back."""
    async with stores.open() as opened:
        old = world(calls(("fetch", {"url": "u"})), store=opened.store)
        successor = world(says("done"), store=opened.another())
        successor.dispatcher.sent = old.dispatcher.sent

        asleep = [True]

        async def overtaken(message: Outgoing) -> None:
            if asleep and asleep.pop():
                await successor.run(user("never mind", "m2"))

        old.dispatcher.on_send = overtaken
        report = await old.run(user("go"))
        assert (report.inputs, report.commits) == (("accepted",), 1)
        expected = ["User(go)", 'Call(fetch, {"url": "u"})', "Result(fetch, interrupted)", "User(never mind)"]
        assert await old.lines() == [*expected, "Asst(done)"]
        assert [body["type"] for body in old.dispatcher.bodies(WEB)] == ["tool_call", "tool_cancel"]
        assert [output["type"] for output in old.dispatcher.outputs] == ["tool_started", "assistant_message"]
        assert len(old.dispatcher.sent) > len({message.id for message in old.dispatcher.sent})
        assert (await opened.another().load(THREAD)).tip == 2


async def test_the_loser_settles_what_the_winner_left(stores: Stores) -> None:
    async with stores.open() as opened:
        one = world(says("lost"), says("to m1"), store=opened.store)
        other = world(says("to m2"), store=opened.another())
        other.dispatcher.slow = {"output"}
        _meanwhile(one, other, "m2")
        await one.run(user("m1", "m1"))
        assert [output["text"] for output in one.dispatcher.outputs] == ["to m2", "to m1"]


async def test_after_three_lost_races_the_queue_delivers_again(stores: Stores) -> None:
    async with stores.open() as opened:
        one = world(*[says("lost")] * 3, store=opened.store)
        other = world(*[says("won")] * 3, store=opened.another())

        async def run() -> None:
            number = len(one.model.requests)
            await other.run(user(f"other {number}", f"o{number}"))

        one.model.on_request = run
        with pytest.raises(LostRace):
            await one.run(user("m1", "m1"))
        assert "User(m1)" not in await one.lines()
        assert len(other.model.requests) == 3
