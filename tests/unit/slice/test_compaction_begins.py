"""When a compaction begins: by what a turn really took, by an estimate before a call, by an overflow, by request."""

from typing import Any

import pytest

from core.errors import Refused
from tests.support.compacting import NEAR, SUMMARY, compacted, compactions, long, newest, small
from tests.support.rules import FETCH, on
from tests.support.tree import ROOT, Tree, tree

FULL = on(says="hello", tokens=NEAR, user="hi")


def _tree(*rules: Any, **fields: Any) -> Tree:
    return tree([SUMMARY, *rules, on(says="fine")], app=small(**fields))


async def test_a_turn_whose_real_input_passes_the_share_of_the_window_is_compacted_behind_it() -> None:
    one = _tree(FULL)
    await one.say("hi")
    (child,) = compactions(one)
    assert newest(one, child) == ["user: hi", "assistant: hello", newest(one, child)[-1]]
    assert compacted(one) == [2]
    await one.say("and now?")
    assert newest(one) == ["user: Summary of the conversation so far:\nThey greeted., and now?"]
    assert await one.lines() == ["User(hi)", "Asst(hello)", "User(and now?)", "Asst(fine)"]


@pytest.mark.parametrize(("tokens", "begun"), [(1_600, 0), (1_601, 1)])
async def test_the_share_is_passed_and_not_reached(tokens: int, begun: int) -> None:
    one = _tree(on(says="hello", tokens=tokens, user="hi"))
    await one.say("hi")
    assert len(compactions(one)) == begun


async def test_the_share_is_the_agents() -> None:
    one = _tree(FULL, settings={"compaction_share": 0.9})
    await one.say("hi")
    assert compactions(one) == []


async def test_without_a_known_window_nothing_is_near() -> None:
    one = _tree(on(says="hello", tokens=10_000_000, user="hi"), settings={"context_window": None})
    await one.say("hi")
    assert compactions(one) == []


async def test_a_request_that_comes_near_the_window_by_estimate_asks_for_one_and_is_sent_all_the_same() -> (
    None
):
    one = _tree()
    await one.say("hi")
    one.held.add(ROOT)
    await one.tell("user_message", content=long(1_500))
    assert (await one.lines())[-1] == "Asst(fine)"
    (child,) = compactions(one)
    assert newest(one, child)[:2] == ["user: hi", "assistant: fine"]
    one.held.clear()
    await one.rest()
    assert compacted(one) == [2]


async def test_a_request_that_would_not_fit_waits_for_the_summary_and_then_shows_its_text_word_for_word() -> (
    None
):
    one = _tree()
    await one.say("hi " + long(900))
    one.held.add(ROOT)
    question = long(900, "what")
    report = await one.tell("user_message", content=question)
    assert (report.rounds, (await one.state()).blocked) == (1, True)
    assert (await one.lines())[-1].startswith("User(what")
    asked = len(one.model.asked_in(ROOT))
    one.held.clear()
    await one.rest()
    assert len(one.model.asked_in(ROOT)) == asked + 1
    assert newest(one) == [f"user: Summary of the conversation so far:\nThey greeted., {question}"]
    assert (await one.lines())[-1] == "Asst(fine)"
    state = await one.state()
    assert (state.blocked, state.compaction, state.owes) == (False, None, False)


async def test_a_request_that_would_not_fit_waits_for_the_compaction_that_is_under_way() -> None:
    one = _tree(on(says="hello", tokens=NEAR, user="hi"))
    one.held.add(ROOT)
    await one.tell("user_message", content="hi " + long(1_000))
    assert len(compactions(one)) == 1
    await one.tell("user_message", content=long(1_000))
    assert (await one.state()).blocked
    one.held.clear()
    await one.rest()
    assert len(compactions(one)) == 1
    assert (await one.lines())[-1] == "Asst(fine)"
    assert one.outputs("error") == []


async def test_an_overflow_that_a_model_reports_is_compacted_away_once() -> None:
    one = _tree(on(error="overflow", contains="42", turns=1, depth=0), settings={"context_window": None})
    await one.say("the secret is 42")
    await one.say("and now?")
    assert compacted(one) == [2]
    assert (await one.lines())[-1] == "Asst(fine)"
    assert one.outputs("error") == []


async def test_an_overflow_that_no_summary_can_mend_is_told_and_the_next_text_works() -> None:
    one = _tree(on(error="overflow", user="now", depth=0), settings={"context_window": None})
    await one.say("hi")
    await one.say("now")
    assert compacted(one) == [2]
    assert [error["code"] for error in one.outputs("error")] == ["overflow"]
    assert (await one.lines())[-1] == "TurnEnd(failed)"
    await one.say("then")
    assert (await one.lines())[-1] == "Asst(fine)"


async def test_compact_asks_for_one_and_wakes_nobody() -> None:
    one = _tree()
    await one.say("hi")
    report = await one.tell("compact")
    assert (report.inputs, report.rounds) == (("accepted",), 0)
    assert compacted(one) == [2]
    assert len(one.model.asked_in(ROOT)) == 1


@pytest.mark.parametrize("thread", ["unknown", "closed"])
async def test_compact_of_a_thread_that_is_not_there_or_closed_is_refused(thread: str) -> None:
    one = _tree()
    if thread == "closed":
        await one.say("hi")
        await one.tell("close")
    report = await one.tell("compact")
    assert isinstance(report.inputs[0], Refused)
    assert compactions(one) == []


async def test_one_at_a_time_and_never_two_without_a_turn_between() -> None:
    one = _tree()
    await one.say("hi")
    one.held.add(ROOT)
    await one.tell("compact")
    assert (await one.tell("compact")).inputs == ("stale",)
    one.held.clear()
    await one.rest()
    await one.tell("compact")
    assert len(compactions(one)) == 1
    await one.say("more")
    await one.tell("compact")
    assert len(compactions(one)) == 2
    assert compacted(one) == [2, 4]


async def test_with_nothing_to_cover_none_begins() -> None:
    one = _tree(on(FETCH, user="go"))
    await one.say("go")
    await one.tell("compact")
    assert len(compactions(one)) == 1, "the text before the call"
    await one.tell("cancel")
    one = _tree(on(error="throttled", user="go"))
    await one.say("go")
    await one.tell("compact")
    assert compactions(one) == [], "what is still to be answered is not covered"


async def test_what_is_asked_in_one_turn_is_asked_once_however_often_it_is_near() -> None:
    one = _tree(on(("echo", {"text": "a"}), tokens=NEAR, depth=0))
    one.held.add(ROOT)
    await one.tell("user_message", content="go")
    assert len(compactions(one)) == 1


async def test_user_text_during_one_is_no_turn_between_it_and_another() -> None:
    one = _tree(on(FETCH, user="go"))
    await one.say("hi")
    await one.say("go")
    one.held.add(ROOT)
    await one.tell("compact")
    await one.tell("user_message", content=long(2_000))
    assert (await one.state()).blocked
    one.held.clear()
    await one.rest()
    assert len(compactions(one)) == 1
    assert (await one.lines())[-1] == "Asst(fine)"


async def test_a_turn_that_failed_stands_between_two_as_well() -> None:
    full = on(error="overflow", contains="subscribed|hi", event=".", depth=0)
    rules = [on(FETCH, user="watch"), full, on(says="fine")]
    one = tree([on(error="invalid", compaction=True), *rules], app=small())
    await one.say("watch")
    (watch,) = await one.live()
    await one.answer(content="subscribed", subscription=True)
    event: dict[str, Any] = {"call_id": watch, "content": "news", "associative": True}
    await one.tell("subscription_event", **event)
    assert [error["code"] for error in one.outputs("error")] == ["overflow"]
    one.model.play(SUMMARY, *rules)
    await one.tell("subscription_event", **event)
    assert len(compactions(one)) == 2
    assert (await one.lines())[-1] == "Asst(fine)"


async def test_what_overflows_the_summariser_is_left_out_of_its_second_try() -> None:
    one = tree(
        [on(error="overflow", contains="marker", compaction=True), SUMMARY, on(says="fine")], app=small()
    )
    for text in ("hi", "marker " + long(400), "then " + long(100)):
        await one.say(text)
    await one.tell("compact")
    assert compacted(one) == [6]
    (child,) = compactions(one)
    assert newest(one, child)[0] == "user: hi"
