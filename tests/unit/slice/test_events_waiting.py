"""Deferral: what waits while a call is live, in which order it joins, and how much may wait."""

from typing import Any

from core.errors import Refused
from core.settings import Limits
from tests.support.rules import FETCH, on, spawn, spawned, task
from tests.support.tree import ROOT, Tree, tree
from tests.support.world import agent

BUSY = [
    on(spawn("dig"), user="go", depth=0),
    on(FETCH, user="watch", depth=0),
    on(("fetch", {"url": "long"}), user="work", depth=0),
    on(says="waiting", **spawned()),
    on(FETCH, **task("dig")),
    on(says="dug", tool_result="fetch", depth=1),
    on(says="fine"),
]


async def _working(**fields: Any) -> tuple[Tree, str, str]:
    """A root with an open subscription and an open child that works on a long call; the call's id and the child's."""
    one = tree(BUSY, **fields)
    await one.say("watch")
    (call_id,) = await one.live()
    await one.answer(content="subscribed", subscription=True)
    await one.say("go")
    await one.say("work")
    return one, call_id, one.children[0]


async def test_events_reports_and_queued_text_join_in_the_order_in_which_they_came() -> None:
    one, call_id, child = await _working()
    busy = await one.lines()
    await one.tell("subscription_event", call_id=call_id, content="one", associative=True)
    await one.answer(child)
    await one.say("and me", on_busy="queue")
    await one.tell("subscription_event", call_id=call_id, content="two", associative=True)
    assert await one.lines() == busy
    asked = len(one.model.asked_in(ROOT))
    await one.answer()
    joined = (await one.lines())[len(busy) :]
    assert [line.rpartition(" ")[2] for line in joined[1:5]] == ["one)", "dug)", "me)", "two)"]
    assert joined[0] == "Result(fetch, page)"
    assert joined[-1] == "Asst(fine)"
    assert len(one.model.asked_in(ROOT)) == asked + 1
    assert (await one.state()).deferred == ()


async def test_they_join_when_user_text_interrupts_and_before_it() -> None:
    one, call_id, _ = await _working()
    await one.tell("subscription_event", call_id=call_id, content="one", associative=True)
    await one.say("stop that")
    assert (await one.lines())[-4:] == [
        "Result(fetch, interrupted)",
        f"Event({call_id}, one)",
        "User(stop that)",
        "Asst(fine)",
    ]


async def test_a_deadline_lets_them_join_too() -> None:
    one, call_id, _ = await _working()
    await one.tell("subscription_event", call_id=call_id, content="one", associative=True)
    await one.advance(601)
    lines = await one.lines()
    assert lines.index("Result(fetch, timed_out)") + 1 == lines.index(f"Event({call_id}, one)")


async def test_cancel_answers_nothing_of_what_waits_and_loses_none_of_it() -> None:
    one, call_id, _ = await _working()
    await one.tell("subscription_event", call_id=call_id, content="one", associative=True)
    asked = len(one.model.requests)
    await one.tell("cancel")
    assert (await one.lines())[-2:] == [f"Event({call_id}, one)", "TurnEnd(cancelled)"]
    assert (len(one.model.requests), (await one.state()).owes) == (asked, False)


async def test_at_the_bound_events_are_refused_and_may_come_again_reports_are_not() -> None:
    one, call_id, child = await _working(app=agent(limits=Limits(deferred_inputs=2)))
    messages = [
        one.message("subscription_event", call_id=call_id, content=f"event {number}", associative=True)
        for number in range(3)
    ]
    taken = [(await one.visit(message)).inputs[0] for message in messages]
    assert taken[:2] == ["accepted", "accepted"]
    assert isinstance(taken[2], Refused)
    (error,) = one.outputs("error")
    assert (error["code"], error["retryable"], error["message_id"]) == ("busy", True, messages[2].message_id)
    await one.answer(child)
    assert len((await one.state()).deferred) == 3
    await one.answer()
    assert (await one.visit(messages[2])).inputs == ("accepted",)
    assert (await one.lines())[-2] == f"Event({call_id}, event 2)"


async def test_at_the_bound_of_children_for_events_others_are_refused_until_one_ends() -> None:
    one, call_id, _ = await _working(app=agent(limits=Limits(deferred_inputs=2)))
    one.held.add(ROOT)
    event: dict[str, Any] = {"call_id": call_id, "content": "news"}
    taken = [(await one.tell("subscription_event", **event)).inputs[0] for _ in range(3)]
    assert isinstance(taken[2], Refused)
    assert len(one.children) == 3
    one.held.clear()
    await one.rest()
    assert (await one.tell("subscription_event", **event)).inputs == ("accepted",)


async def test_a_burst_of_events_is_refused_before_its_children_get_too_little_to_say_anything() -> None:
    one, call_id, _ = await _working()
    one.held.add(ROOT)
    event: dict[str, Any] = {"call_id": call_id, "content": "news"}
    taken = [(await one.tell("subscription_event", **event)).inputs[0] for _ in range(40)]
    refused = [refusal for refusal in taken if isinstance(refusal, Refused)]
    assert {refusal.code for refusal in refused} == {"busy"}
    assert 20 < len(one.children) < 40
    given = [child.credit for child in (await one.state()).children if child.kind == "event"]
    assert min(given) >= one.world.app.agents[0].settings.max_output_tokens
    one.held.clear()
    await one.rest()
    assert (await one.tell("subscription_event", **event)).inputs == ("accepted",)


async def test_an_event_with_a_child_of_its_own_is_no_reason_to_ask_a_model_again_that_is_away() -> None:
    one, call_id, _ = await _working()
    one.model.play(on(error="throttled", user="more", depth=0), *BUSY)
    await one.say("more")
    asked, wake = len(one.model.asked_in(ROOT)), (await one.state()).wake
    assert wake is not None
    await one.tell("subscription_event", call_id=call_id, content="news")
    assert len(one.model.asked_in(ROOT)) == asked
    assert (await one.state()).wake == wake
    await one.tell("subscription_event", call_id=call_id, content="news", associative=True)
    assert len(one.model.asked_in(ROOT)) > asked
