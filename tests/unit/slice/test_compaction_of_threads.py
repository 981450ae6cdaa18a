"""Compaction of threads that are busy: with live calls, sleeps, questions, subscriptions and children it covers."""

from typing import Any

import pytest

from core.entries import Event
from core.render import SUMMARY_HEAD
from core.settings import Limits
from tests.contract.stores import Stores
from tests.support.asking import WIPE, asking
from tests.support.compacting import NEAR, SUMMARY, compacted, compactions, newest, small
from tests.support.rules import FETCH, on, spawn, spawned, task
from tests.support.tree import ROOT, Tree, tree

RULES = [
    SUMMARY,
    on(FETCH, says="Looking.", user="go", depth=0),
    on(("sleep", {"seconds": 3600}), user="sleep", depth=0),
    on(WIPE, user="wipe", depth=0),
    on(spawn("dig"), user="dig", depth=0),
    on(says="off they go", **spawned()),
    on(FETCH, **task("dig")),
    on(says="dug", tool_result="fetch", depth=1),
    on(says="up", tool_result="sleep"),
    on(says="fine"),
]


def _tree(*rules: Any, **fields: Any) -> Tree:
    return tree([*rules, *RULES], app=small(**fields))


@pytest.mark.parametrize("when", ["before the summary", "after the summary"])
async def test_during_a_live_call_it_covers_what_stands_before_and_the_call_is_answered(
    when: str, stores: Stores
) -> None:
    async with stores.open() as opened:
        one = tree(RULES, app=small(), store=opened.store)
        await one.say("hi")
        await one.say("go")
        one.held.add(ROOT)
        await one.tell("compact")
        (child,) = compactions(one)
        assert newest(one, child)[:3] == ["user: hi", "assistant: fine", "user: go"]
        if when == "after the summary":
            one.held.clear()
            await one.rest()
            assert len(await one.live()) == 1
        await one.answer()
        one.held.clear()
        await one.rest()
        assert compacted(one) == [4], "what was said before the call, and not the call"
        assert (await one.lines())[-2:] == ["Result(fetch, page)", "Asst(fine)"]
        await one.say("and now?")
        assert newest(one)[:3] == [
            f"user: {SUMMARY_HEAD}They greeted.",
            "assistant: call fetch",
            "user: result fetch",
        ]


async def test_a_sleep_goes_on_through_a_compaction_and_its_timer_still_counts(stores: Stores) -> None:
    async with stores.open() as opened:
        one = tree(RULES, app=small(), store=opened.store)
        await one.say("hi")
        await one.say("sleep")
        before = (await one.state()).timer
        await one.tell("compact")
        assert compacted(one) == [3]
        assert before is not None
        await one.advance(3600)
        assert (await one.lines())[-2:] == ["Result(sleep, The time has come.)", "Asst(up)"]
        assert newest(one)[0] == f"user: {SUMMARY_HEAD}They greeted."


async def test_a_question_outlives_a_compaction() -> None:
    one = tree(RULES, app=asking())
    await one.say("hi")
    await one.say("wipe")
    await one.tell("compact")
    assert compacted(one) == [3]
    await one.tell("answer", call_id=(await one.live())[0], approved=True)
    assert (await one.lines())[-2:] == ["Result(wipe, wiped sda)", "Asst(fine)"]


async def test_what_waits_joins_behind_the_summary() -> None:
    one = _tree()
    await one.say("hi")
    await one.say("go")
    await one.say("and this", on_busy="queue")
    await one.tell("compact")
    await one.answer()
    assert (await one.lines())[-2:] == ["User(and this)", "Asst(fine)"]
    assert newest(one)[-1].endswith("and this")


async def test_reports_and_events_whose_call_was_compacted_away_are_delivered_with_their_text() -> None:
    one = _tree(on(FETCH, user="watch", depth=0), on(says="noted", event="news|dug"))
    await one.say("watch")
    (watch,) = await one.live()
    await one.answer(content="subscribed", subscription=True)
    await one.say("dig")
    await one.tell("compact")
    assert compacted(one) == [len(await one.lines())]
    await one.tell("subscription_event", call_id=watch, content="news", associative=True)
    assert newest(one)[1:] == [
        "assistant: call receive_event__injected",
        "user: result receive_event__injected",
    ]
    await one.answer(one.children[0])
    events = [entry for entry in await one.entries() if isinstance(entry, Event)]
    assert [(event.name, event.args) for event in events] == [("fetch", {"url": "u"}), ("spawn_thread", {})]
    assert [line.rpartition(" ")[2] for line in (await one.lines())[-4:]][::2] == ["news)", "dug)"]
    assert (await one.lines())[-1] == "Asst(noted)"


async def test_an_event_with_a_child_of_its_own_shows_it_the_summary() -> None:
    one = _tree(on(FETCH, user="watch", depth=0), on(says="noted", event="news"))
    await one.say("watch")
    (watch,) = await one.live()
    await one.answer(content="subscribed", subscription=True)
    await one.tell("compact")
    await one.tell("subscription_event", call_id=watch, content="news", final=True)
    child = one.children[-1]
    assert newest(one, child)[0] == f"user: {SUMMARY_HEAD}They greeted."
    assert (await one.lines(child))[-1] == "Asst(noted)"
    assert (await one.state()).subscriptions == ()


async def test_a_child_spawned_before_it_and_one_spawned_after_both_go_on(stores: Stores) -> None:
    async with stores.open() as opened:
        one = tree(RULES, app=small(), store=opened.store)
        await one.say("hi")
        await one.say("dig")
        await one.tell("compact")
        await one.say("dig")
        early, late = [child for child in one.children if child not in compactions(one)]
        for child in (early, late):
            await one.answer(child)
            assert (await one.lines(child))[-1] == "Asst(dug)"
        assert newest(one, early)[:2] == ["user: hi", "assistant: fine"]
        assert newest(one, late)[0] == f"user: {SUMMARY_HEAD}They greeted., dig"


async def test_it_is_exempt_from_every_limit() -> None:
    limits = Limits(spawn_depth=1, open_children=1, spawns_per_turn=1, tokens=10_000, turns_per_user_input=1)
    full = on(FETCH, tokens=NEAR, **task("dig"))
    one = _tree(on(says="costly", tokens=20_000, compaction=True), full, limits=limits)
    await one.say("dig")
    child = one.children[0]
    credit = (await one.state(child)).credit
    assert len(compactions(one)) == 1, "at the deepest level, beside as many children as may be"
    assert compacted(one) != []
    await one.answer(child)
    assert (await one.lines(child))[-1] == "Asst(dug)"
    assert credit is not None
    assert credit > 0, "its cost is nobody's"


async def test_a_late_result_of_a_call_that_was_compacted_away_changes_nothing() -> None:
    one = _tree()
    await one.say("go")
    (call_id,) = await one.live()
    await one.answer()
    await one.tell("compact")
    assert compacted(one) == [5]
    before = await one.state()
    report = await one.tell("tool_result", call_id=call_id, content="late", subscription=True)
    assert (report.inputs, report.commits, await one.state()) == (("stale",), 0, before)
