"""What ends a sleep early, in a tree: user text, an event, a report, a message of the parent; and what does not."""

import pytest

from core.entries import ToolResult
from core.history.answers import WOKEN
from core.render import plain_text
from tests.support.rules import FETCH, Call, on, spawn, spawned, task
from tests.support.tree import ROOT, Tree, tree

EVER: Call = ("sleep_until_event_or_input", {})
WEEK = ("sleep", {"seconds": 7 * 86_400})
RULES = [
    on(FETCH, user="watch", depth=0),
    on(spawn("dig"), user="dig", depth=0),
    on(WEEK, user="sleep", depth=0),
    on(FETCH, WEEK, user="both", depth=0),
    on(("send_message_to_child", {"thread_id": "{1}", "message": "get up"}), user="tell (\\S+)", depth=0),
    on(says="told", tool_result="send_message_to_child"),
    on(says="off they go", **spawned()),
    on(FETCH, **task("dig")),
    on(says="dug", tool_result="fetch", depth=1),
    on(says="up", tool_result="sleep"),
    on(says="fine"),
]


async def _asleep() -> tuple[Tree, str]:
    """A root with an open subscription and a child at work, which sleeps for a week; the subscription's call."""
    one = tree(RULES)
    await one.say("watch")
    (call_id,) = await one.live()
    await one.answer(content="subscribed", subscription=True)
    await one.say("dig")
    await one.say("sleep")
    assert (await one.state()).live[0].passive
    return one, call_id


async def _woken(one: Tree, by: str, call_id: str) -> None:
    match by:
        case "user text":
            await one.say("hello")
        case "queued user text":
            await one.say("hello", on_busy="queue")
        case "an event":
            await one.tell("subscription_event", call_id=call_id, content="news", associative=True)
        case _:
            await one.answer(one.children[0])


@pytest.mark.parametrize("by", ["user text", "queued user text", "an event", "a report"])
async def test_whatever_comes_ends_a_sleep_and_stands_behind_its_result(by: str) -> None:
    one, call_id = await _asleep()
    await _woken(one, by, call_id)
    lines = await one.lines()
    slept = lines.index("Result(sleep, interrupted)")
    assert lines[slept + 1].startswith("User(hello" if by.endswith("text") else "Event(")
    assert lines[-1].startswith("Asst(")
    result = next(e for e in await one.entries() if isinstance(e, ToolResult) and e.seq == slept + 1)
    assert plain_text(result.content) == WOKEN
    assert (await one.state()).deferred == ()


async def test_its_parents_message_wakes_a_child_and_its_report_comes_when_it_is_done() -> None:
    one = tree([on(EVER, **task("dig")), on(says="I am up", user="get up", depth=1), *RULES])
    await one.say("dig")
    (child,) = one.children
    state = await one.state(child)
    assert (state.closed, state.idle) == (False, False)
    await one.say(f"tell {child}")
    assert (await one.lines(child))[-3:] == [
        "Result(sleep_until_event_or_input, interrupted)",
        "User(get up)",
        "Asst(I am up)",
    ]
    assert "I am up" in str(await one.lines())
    assert (await one.state(child)).closed


async def test_a_child_that_sleeps_wakes_by_itself_and_then_reports() -> None:
    one = tree([on(WEEK, **task("dig")), *RULES])
    await one.say("dig")
    await one.advance(7 * 86_400)
    assert (await one.lines(one.children[0]))[-1] == "Asst(up)"
    assert (await one.lines())[-2].endswith("up)")


async def test_a_report_while_a_worker_is_at_it_waits_for_the_result_and_wakes_nobody() -> None:
    one, _ = await _asleep()
    await one.say("both")
    await one.answer(one.children[0])
    assert len((await one.state()).deferred) == 1
    assert len(await one.live()) == 2
    await one.answer()
    assert [line.partition(",")[0] for line in (await one.lines())[-4:-2]] == ["Result(fetch", "Result(sleep"]
    assert (await one.lines())[-2].startswith("Event(")


async def test_an_event_with_a_child_of_its_own_wakes_nobody_until_that_reports() -> None:
    one, call_id = await _asleep()
    before = await one.lines()
    await one.tell("subscription_event", call_id=call_id, content="news")
    assert await one.lines() == before
    assert (await one.state()).live[0].passive


async def test_cancel_ends_a_sleep_and_nothing_follows() -> None:
    one = tree(RULES)
    await one.say("sleep")
    asked = len(one.model.asked_in(ROOT))
    await one.tell("cancel")
    assert (await one.lines())[-2:] == ["Result(sleep, interrupted)", "TurnEnd(cancelled)"]
    await one.advance(8 * 86_400)
    assert len(one.model.asked_in(ROOT)) == asked
