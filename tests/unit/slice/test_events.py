"""Events of a subscription: they join the thread or get a child, once each, while somebody waits for them."""

from typing import Any

import pytest

from core.errors import Refused
from core.request import CallPart, ResultPart
from core.settings import Limits
from infra.memory import MemoryStore
from tests.support.rules import FETCH, on, spawn, task
from tests.support.tree import ROOT, Tree, tree
from tests.support.world import agent

WATCH = [
    on(FETCH, user="watch", depth=0),
    on(says="watching", tool_result="fetch"),
    on(says="seen: {result}", event=True),
    on(says="fine"),
]


async def _watching(*rules: Any, **fields: Any) -> tuple[Tree, str]:
    """A root with an open subscription, and its call's id."""
    one = tree([*rules, *WATCH], **fields)
    await one.say("watch")
    (call_id,) = await one.live()
    await one.answer(content="subscribed", subscription=True)
    return one, call_id


def _refused(report: Any) -> str:
    (refusal,) = report.inputs
    assert isinstance(refusal, Refused)
    return refusal.code


async def test_an_associative_event_joins_the_thread_and_is_answered() -> None:
    one, call_id = await _watching()
    await one.tell("subscription_event", call_id=call_id, content="news", associative=True)
    assert (await one.lines())[-2:] == [f"Event({call_id}, news)", "Asst(seen: news)"]
    assert one.children == []


async def test_the_model_sees_a_call_that_names_the_original_one_and_the_event_as_its_result() -> None:
    one, call_id = await _watching()
    await one.tell("subscription_event", call_id=call_id, content={"price": 7}, associative=True)
    injected, shown = one.model.requests[-1].messages[-2:]
    call, result = injected.parts[-1], shown.parts[0]
    assert isinstance(call, CallPart)
    assert isinstance(result, ResultPart)
    assert call.name == result.name == "receive_event__injected"
    assert call.args == {"call_id": call_id, "name": "fetch", "args": {"url": "u"}}
    assert call.call_id == result.call_id != call_id


async def test_any_other_event_gets_a_child_of_its_own_at_once_and_wakes_nobody() -> None:
    one, call_id = await _watching()
    before, asked = await one.lines(), len(one.model.asked_in(ROOT))
    await one.tell("subscription_event", call_id=call_id, content="news")
    (child,) = one.children
    assert (await one.lines(child))[-2:] == [f"Event({call_id}, news)", "Asst(seen: news)"]
    assert (await one.manager(child)).thread_stack == (ROOT, child)
    assert (await one.state(child)).closed
    assert await one.lines() == before
    assert (len(one.model.asked_in(ROOT)), (await one.state()).children) == (asked, ())
    assert [body["type"] for body in one.outputs("thread_spawned", "thread_closed")] == [
        "thread_spawned",
        "thread_closed",
    ]


async def test_a_child_is_spawned_for_it_while_the_thread_works() -> None:
    one, call_id = await _watching()
    one.model.play(on(FETCH, user="more"), *WATCH)
    await one.say("more")
    busy = await one.lines()
    await one.tell("subscription_event", call_id=call_id, content="news")
    assert len(one.children) == 1
    assert await one.lines() == busy
    assert (await one.state()).deferred == ()


async def test_its_child_reports_what_the_thread_must_know() -> None:
    report = on(("report_to_parent", {"report": "a storm"}), event="news", depth=1)
    one, call_id = await _watching(report)
    await one.tell("subscription_event", call_id=call_id, content="news")
    assert (await one.lines())[-2:] == [f"Event({call_id}, a storm)", "Asst(seen: a storm)"]
    (call,) = [part for part in one.model.requests[-1].messages[-2].parts if isinstance(part, CallPart)]
    assert (call.args["name"], call.args["child_thread_id"]) == ("fetch", one.children[0])


@pytest.mark.parametrize(
    ("report", "heard"), [("a storm", ["a storm"]), (" ", []), (None, [])], ids=["a report", "blank", "none"]
)
async def test_its_child_that_closes_itself_tells_its_report_and_no_other_text(
    report: str | None, heard: list[str]
) -> None:
    close = ("close_thread", {"thread_id": "{thread_id}", "report_to_parent": report})
    one, call_id = await _watching(on(close, says="dealt with", event="news", depth=1))
    await one.tell("subscription_event", call_id=call_id, content="news")
    events = [line for line in await one.lines() if line.startswith("Event(")]
    assert events == [f"Event({call_id}, {text})" for text in heard]
    assert ((await one.state()).children, (await one.state(one.children[0])).closed) == ((), True)


async def test_a_child_that_a_person_closes_ends_silently() -> None:
    one, call_id = await _watching(on(FETCH, event="news", depth=1))
    before = await one.lines()
    await one.tell("subscription_event", call_id=call_id, content="news")
    await one.tell("close", one.children[0])
    assert (await one.lines(), (await one.state()).children) == (before, ())


async def test_the_credit_of_its_child_comes_back() -> None:
    one, call_id = await _watching()
    before = (await one.state()).credit
    assert before is not None
    one.held.add(ROOT)
    await one.tell("subscription_event", call_id=call_id, content="news")
    given = before // 10
    assert [child.credit for child in (await one.state()).children] == [given]
    assert (await one.state()).credit == before - given
    one.held.clear()
    await one.rest()
    assert (await one.state()).credit == before - 10


async def test_in_the_deepest_threads_it_joins_since_no_child_may_be_spawned() -> None:
    one = tree(
        [on(spawn("dig"), user="go"), on(FETCH, **task("dig")), *WATCH],
        app=agent(limits=Limits(spawn_depth=1)),
    )
    await one.say("go")
    (child,) = one.children
    (call_id,) = await one.live(child)
    await one.answer(child, "subscribed", subscription=True)
    await one.tell("subscription_event", child, call_id=call_id, content="news")
    assert one.children == [child]
    assert (await one.lines(child))[-1] == "Asst(seen: news)"


@pytest.mark.parametrize("associative", [True, False])
async def test_the_final_event_is_delivered_and_ends_the_subscription(associative: bool) -> None:
    one, call_id = await _watching()
    event: dict[str, Any] = {"call_id": call_id, "associative": associative}
    await one.tell("subscription_event", content="last", final=True, **event)
    assert (await one.state()).subscriptions == ()
    assert [
        line for line in [*await one.lines(), *await one.lines((one.children or [ROOT])[0])] if "last" in line
    ]
    assert one.told("worker:web") == [("tool_call", ROOT)]
    report = await one.tell("subscription_event", content="later", **event)
    assert report.inputs == ("stale",)


async def test_a_model_that_calls_the_reserved_name_gets_an_error() -> None:
    one, _ = await _watching(on(("receive_event__injected", {"call_id": "x"}), user="cheat"))
    await one.say("cheat")
    assert (await one.lines())[-2] == "Result(receive_event__injected, error)"


async def test_events_of_calls_that_opened_nothing_or_of_a_closed_thread_change_nothing() -> None:
    one, call_id = await _watching()
    before = await one.lines()
    for thread_id, other in ((ROOT, "call_unknown"), ("t2", call_id), ("t1~nobody", call_id)):
        report = await one.tell("subscription_event", thread_id, call_id=other, content="news")
        assert report.inputs == ("stale",)
    assert await one.lines() == before
    await one.tell("close")
    report = await one.tell("subscription_event", call_id=call_id, content="news")
    assert report.inputs == ("stale",)
    assert one.outputs("error") == []


async def test_a_thread_without_credit_refuses_events_until_the_next_user_text() -> None:
    one, call_id = await _watching(
        on(says="dear", tokens=20_000, user="spend"), app=agent(limits=Limits(tokens=9_000))
    )
    await one.say("spend")
    asked = len(one.model.requests)
    for associative in (True, False):
        event: dict[str, Any] = {"call_id": call_id, "content": "news", "associative": associative}
        assert _refused(await one.tell("subscription_event", **event)) == "limit"
    assert (len(one.model.requests), one.children) == (asked, [])
    await one.say("go on")
    await one.tell("subscription_event", call_id=call_id, content="news", associative=True)
    assert (await one.lines())[-1] == "Asst(seen: news)"


async def test_the_same_event_counts_once_under_whatever_message_id() -> None:
    one, call_id = await _watching()
    event: dict[str, Any] = {"call_id": call_id, "content": "news", "associative": True, "event_id": "e1"}
    first = one.message("subscription_event", message_id="a", **event)
    again = one.message("subscription_event", message_id="a", **event)
    elsewhere = one.message("subscription_event", message_id="b", **event)
    taken = [(await one.visit(message)).inputs for message in (first, again, elsewhere)]
    assert taken == [("accepted",), ("duplicate",), ("duplicate",)]
    assert (await one.lines()).count(f"Event({call_id}, news)") == 1


async def test_the_same_event_counts_once_with_a_child_of_its_own_and_after_its_subscription_ended() -> None:
    one, call_id = await _watching()
    event: dict[str, Any] = {"call_id": call_id, "content": "news", "event_id": "e1", "final": True}
    await one.tell("subscription_event", **event)
    report = await one.tell("subscription_event", **event)
    assert report.inputs == ("duplicate",)
    assert len(one.children) == 1


async def test_without_an_event_id_each_message_is_an_event() -> None:
    one, call_id = await _watching()
    for _ in range(2):
        await one.tell("subscription_event", call_id=call_id, content="news", associative=True)
    assert (await one.lines()).count(f"Event({call_id}, news)") == 2


async def test_the_same_event_id_with_another_body_is_a_mistake() -> None:
    one, call_id = await _watching()
    event: dict[str, Any] = {"call_id": call_id, "associative": True, "event_id": "e1"}
    await one.tell("subscription_event", content="news", **event)
    assert _refused(await one.tell("subscription_event", content="other news", **event)) == "conflict"
    assert isinstance(one.world.store, MemoryStore)
    assert len(await one.world.store.parked()) == 1
    assert (await one.lines())[-1] == "Asst(seen: news)"


async def test_two_subscriptions_may_use_the_same_event_ids() -> None:
    one, first = await _watching()
    await one.say("watch")
    (second,) = await one.live()
    await one.answer(content="subscribed", subscription=True)
    for call_id in (first, second):
        event: dict[str, Any] = {"call_id": call_id, "content": "news", "associative": True, "event_id": "e1"}
        await one.tell("subscription_event", **event)
    assert [line for line in await one.lines() if "news)" in line and "Event" in line] == [
        f"Event({first}, news)",
        f"Event({second}, news)",
    ]


async def test_a_child_cannot_cancel_what_its_parent_subscribed_to() -> None:
    one, call_id = await _watching()
    end = ("cancel_subscription", {"call_id": call_id})
    one.model.play(on(end, event="news", depth=1), *WATCH)
    await one.tell("subscription_event", call_id=call_id, content="news")
    assert "Result(cancel_subscription, error)" in await one.lines(one.children[0])
    assert len((await one.state()).subscriptions) == 1
