"""Every end of a child reaches its parent: its last text, a failure, a limit, a person; busy parents, closed ones."""

from typing import Any

import pytest

from core.delivery import DELAY, INPUT
from core.entries import Event
from core.messages import Envelope
from core.parsing import parse_input
from core.settings import Limits
from core.slice.give_back import give_back
from tests.support.rules import FETCH, on, spawn, spawned, task
from tests.support.tree import ROOT, Tree, tree
from tests.support.world import agent

GO = on(spawn("dig"), user="go", depth=0)
FINE = on(says="fine", depth=0)


async def _told(one: Tree, thread_id: str = ROOT) -> list[str]:
    """What the thread was told by reports, in order."""
    return [line.partition(", ")[2][:-1] for line in await one.lines(thread_id) if line.startswith("Event(")]


async def _begun(*rules: Any, **fields: Any) -> tuple[Tree, str]:
    """A root that has spawned a child, and rests."""
    one = tree([GO, *rules, FINE], **fields)
    await one.say("go")
    return one, one.children[0]


@pytest.mark.parametrize(
    ("reply", "reported"),
    [
        (on(says="dug", depth=1), "dug"),
        (on(depth=1), "It ended without an answer."),
        (on(error="invalid", depth=1), "It failed."),
        (on(error="disconnect", says="so f", depth=1), "It failed.\nso f"),
        (on(("close_thread", {"thread_id": "{thread_id}"}), says="dug", depth=1), "dug"),
        (on(("close_thread", {"thread_id": "{thread_id}"}), depth=1), "It ended without a word."),
        (
            on(
                ("close_thread", {"thread_id": "{thread_id}", "report_to_parent": "all"}), says="dug", depth=1
            ),
            "all",
        ),
    ],
    ids=[
        "text",
        "nothing",
        "refused",
        "broken off",
        "closes with text",
        "closes silently",
        "closes with a report",
    ],
)
async def test_how_it_ends_by_itself(reply: Any, reported: str) -> None:
    one, child = await _begun(reply, app=agent(limits=Limits(model_tries=1)))
    assert await _told(one) == [reported]
    assert (await one.state(child)).closed
    assert (await one.state()).children == ()
    assert (await one.lines())[-1] == "Asst(fine)"


async def test_text_of_the_turn_that_was_followed_by_calls_is_the_last_text_too() -> None:
    echo = ("echo", {"text": "a"})
    one, _ = await _begun(
        on(echo, says="First.", depth=1, turns=1),
        on(("close_thread", {"thread_id": "{thread_id}"}), depth=1),
    )
    assert await _told(one) == ["First."]


async def test_a_model_that_stays_away_ends_it_when_all_tries_are_used_up() -> None:
    one, child = await _begun(on(error="throttled", depth=1))
    assert await _told(one) == []
    for _ in range(10):
        await one.advance(900)
    assert await _told(one) == ["It failed."]
    assert (await one.state(child)).closed


@pytest.mark.parametrize(("kind", "word"), [("cancel", "cancelled"), ("close", "closed")])
async def test_a_person_ends_it(kind: str, word: str) -> None:
    one, child = await _begun(on(FETCH, depth=1))
    await one.tell(kind, child)
    (reported,) = await _told(one)
    assert word in reported
    assert (await one.state(child)).closed
    assert one.told("worker:web") == [("tool_call", child), ("tool_cancel", child)]


async def test_its_deadline_passes_and_it_goes_on() -> None:
    one, child = await _begun(on(FETCH, **task("dig")), on(says="No page.", depth=1))
    await one.advance(601)
    assert "Result(fetch, timed_out)" in await one.lines(child)
    assert await _told(one) == ["No page."]


async def test_its_spawn_dies() -> None:
    one = tree([GO, FINE])
    await one.visit(one.message("user_message", content="go"))
    await one.deliver(one.sent("spawn")[0], completing=False)
    await one.rest()
    assert await _told(one) == ["It failed."]
    assert [error["code"] for error in one.outputs("error")] == ["dead_letter"]


async def test_with_something_to_wait_for_it_does_not_end() -> None:
    one, child = await _begun(
        on(spawn("deeper"), **task("dig")),
        on(says="waiting", **spawned(1)),
        on(FETCH, **task("deeper")),
        on(says="deep", depth=2),
        on(says="dug", depth=1),
    )
    assert (await one.lines(child))[-1] == "Asst(waiting)"
    assert await _told(one) == []
    await one.answer(one.children[1])
    assert await _told(one, child) == ["deep"]
    assert await _told(one) == ["dug"]


async def test_with_a_subscription_it_stays_until_that_ends() -> None:
    one, child = await _begun(
        on(FETCH, **task("dig")),
        on(says="watching", tool_result="fetch"),
        on(says="seen: {result}", event="news"),
    )
    (call_id,) = await one.live(child)
    await one.answer(child, "subscribed", subscription=True)
    assert await _told(one) == []
    event = {"call_id": call_id, "content": "news", "associative": True}
    await one.tell("subscription_event", child, **event)
    assert await _told(one) == []
    await one.tell("subscription_event", child, **event, final=True)
    assert (await one.lines(child)).count("Asst(seen: news)") == 2
    assert await _told(one) == ["seen: news"]


async def test_a_last_text_that_no_message_carries_is_cut() -> None:
    one, _ = await _begun(on(says="é" * 100_000, depth=1))
    (reported,) = await _told(one)
    assert 10_000 < len(reported) < 100_000


async def test_reports_wait_while_the_parent_is_busy_and_join_in_order_after_its_results() -> None:
    one = tree(
        [
            on(spawn("a"), FETCH, spawn("b"), user="go"),
            on(says="first", **task("a")),
            on(says="second", **task("b")),
            on(says="all there", tool_result="fetch"),
            on(says="all there", event=True),
        ]
    )
    await one.say("go")
    assert [line for line in await one.lines() if "Asst" in line] == []
    assert len((await one.state()).deferred) == 2
    assert (await one.state()).children == ()
    await one.answer()
    assert (await one.lines())[-4].startswith("Result(fetch, page")
    assert await _told(one) == ["first", "second"]
    assert (await one.lines())[-1] == "Asst(all there)"
    assert len(one.model.asked_in(ROOT)) == 2


async def test_a_closed_parent_drops_it() -> None:
    one, child = await _begun(on(FETCH, depth=1), on(says="dug", depth=1))
    one.held.add(ROOT)
    await one.tell("cancel", child)
    await one.tell("close")
    before = await one.lines()
    one.held.clear()
    await one.rest()
    assert await one.lines() == before
    assert one.reports[-1][1].inputs == ("stale",)


async def test_a_report_of_an_end_counts_once() -> None:
    one, _ = await _begun(on(says="dug", depth=1))
    before = await one.lines(), await one.state()
    (report,) = one.sent("thread_report")
    assert (await one.deliver(report)).inputs == ("stale",)
    await one.rest()
    assert (await one.lines(), await one.state()) == before


async def test_a_cancelled_root_is_started_again_by_its_open_child_and_by_nothing_stale() -> None:
    one = tree([on(spawn("dig"), FETCH, user="go"), on(FETCH, **task("dig")), on(says="late", depth=1), FINE])
    await one.say("go")
    (child,) = one.children
    (call_id,) = await one.live()
    await one.tell("cancel")
    stopped = await one.lines()
    await one.tell("tool_result", call_id=call_id, content="page")
    await one.tell("subscription_event", call_id=call_id, content="news", associative=True)
    gone = one.message("thread_report", child_thread_id="t1~gone", call_id=call_id, text="x", closing=True)
    await one.visit(gone)
    assert await one.lines() == stopped
    await one.answer(child)
    assert (await one.lines())[len(stopped) :][-1] == "Asst(fine)"


@pytest.mark.parametrize("lost", ["wake", "thread_report"])
async def test_an_end_that_only_a_message_to_the_child_can_tell(lost: str) -> None:
    """As a wake or a report is given up because the child's log cannot be read any more."""
    digging = on(error="throttled", **task("dig")) if lost == "wake" else on(spawn("deep"), **task("dig"))
    one = tree([GO, digging, on(says="I wait", **spawned(1)), on(says="deep", depth=2), FINE])
    await one.visit(one.message("user_message", content="go"))
    child = one.children[0]
    queue = DELAY if lost == "wake" else INPUT
    while not (given := [m for m in one.world.dispatcher.once(queue) if f'"type":"{lost}"' in m.body]):
        await one.deliver(one.waiting()[0])
    taken = parse_input(given[0].body, Envelope(given[0].id, given[0].group))
    one.held.add(child)
    (known,) = (await one.state()).children
    for _ in range(2):
        await give_back(one.world.ports, taken, "It is gone.")
    await one.rest()
    assert await _told(one) == ["It is gone."]
    (event,) = [entry for entry in await one.entries() if isinstance(entry, Event)]
    assert (event.call_id, event.child_thread_id) == (known.call_id, child)
    assert (await one.state()).children == ()
