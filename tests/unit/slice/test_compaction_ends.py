"""How a compaction ends: with a summary that counts from a commit of the parent on, or without one, and in time."""

from datetime import timedelta
from typing import Any

import pytest

from core.accept.subscription_event import MAX_EVENT_BYTES
from core.messages import Envelope
from core.parsing import parse_input
from core.render import PINNED_HEAD, SUMMARY_HEAD
from core.slice.compaction import DEADLINE, PINNED_CHARACTERS, SUMMARY_CHARACTERS
from core.slice.give_back import give_back
from infra.memory import MemoryStore
from tests.support.compacting import NEAR, SUMMARY, compacted, compactions, long, newest, small
from tests.support.rules import FETCH, on
from tests.support.tree import ROOT, Tree, tree
from tests.support.world import START

FULL = on(says="hello", tokens=NEAR, user="hi")


def _tree(*rules: Any, **fields: Any) -> Tree:
    return tree([*rules, SUMMARY, on(says="fine")], app=small(**fields))


async def test_the_summary_counts_from_one_commit_of_the_parent_on() -> None:
    one = _tree()
    await one.say("hi")
    one.held.add(ROOT)
    await one.tell("compact")
    assert (await one.state()).summary is None
    one.held.clear()
    await one.rest()
    summary = (await one.state()).summary
    assert summary is not None
    assert (summary.text, summary.up_to_seq) == ("They greeted.", 2)
    assert isinstance(one.world.store, MemoryStore)
    bases = [commit.number for commit in one.world.store.commits(ROOT) if commit.base is not None]
    assert bases == [(await one.state()).base_number]
    assert len(await one.lines()) == 2, "the log itself stays whole"


async def test_a_compaction_result_is_lost_or_doubled_and_counts_once() -> None:
    one = _tree(FULL)
    one.held.add(ROOT)
    await one.tell("user_message", content="hi")
    (done,) = one.sent("compaction_done")
    await one.deliver(done)
    report = await one.deliver(done)
    assert (report.inputs, report.commits) == (("stale",), 0)
    assert compacted(one) == [2]


async def test_a_report_ends_no_compaction() -> None:
    one = _tree(FULL)
    one.held.add(ROOT)
    await one.tell("user_message", content="hi")
    (done,) = one.sent("compaction_done")
    (child,) = one.children
    told = await one.tell("thread_report", child_thread_id=child, call_id="c", text="given up", closing=True)
    assert told.inputs == ("stale",)
    await one.deliver(done)
    assert compacted(one) == [2]


async def test_a_compaction_result_is_lost_or_doubled_and_one_that_never_comes_is_not_waited_for() -> None:
    one = _tree()
    await one.say("hi " + long(900))
    one.held.add(ROOT)
    await one.tell("user_message", content=long(900, "what"))
    state = await one.state()
    assert state.timer is not None
    assert (state.blocked, state.timer.due_at) == (True, START + DEADLINE)
    one.world.clock.advance(DEADLINE.total_seconds())
    await one.deliver(one.world.dispatcher.once("delay")[-1])
    state = await one.state()
    assert (state.blocked, state.compaction) == (False, None)
    assert (await one.lines())[-1] == "Asst(fine)", "without a summary it goes on as it is"
    assert compacted(one) == []
    await one.deliver(one.sent("compaction_done")[0])
    assert (await one.state()).summary is None
    assert '"type":"close"' in one.sent("close")[0].body


async def test_it_has_half_an_hour() -> None:
    assert timedelta(minutes=30) == DEADLINE


@pytest.mark.parametrize(
    "rule",
    [
        on(says="  ", compaction=True),
        on(compaction=True),
        on(error="invalid", compaction=True),
        on(error="overflow", compaction=True),
        on(FETCH, says="Let me look.", compaction=True),
        {"when": {"compaction": True}, "reply": {"text": "I will not.", "stop_reason": "refusal"}},
        {"when": {"compaction": True}, "reply": {"text": "Bad!", "stop_reason": "guardrail_intervened"}},
    ],
    ids=["blank", "empty", "failing", "too long to read", "calling", "refused", "blocked"],
)
async def test_without_a_summary_everything_stays_as_it_is_and_nobody_is_bothered(rule: Any) -> None:
    one = _tree(rule, FULL)
    await one.say("hi")
    (child,) = compactions(one)
    state = await one.state()
    assert (state.summary, state.compaction, state.blocked) == (None, None, False)
    assert (await one.state(child)).closed
    assert (compacted(one), one.outputs("error")) == ([], [])
    await one.say("and now?")
    assert newest(one)[:2] == ["user: hi", "assistant: hello"]


async def test_a_summariser_that_cannot_be_reached_is_given_up_after_all_tries() -> None:
    one = _tree(on(error="throttled", compaction=True), FULL)
    await one.say("hi")
    for _ in range(10):
        await one.advance(900)
    assert (await one.state()).compaction is None
    assert one.outputs("error") == []


async def test_what_it_says_while_it_works_is_told_to_nobody_but_its_parent() -> None:
    one = _tree(FULL)
    await one.say("hi")
    kinds = [(output["type"], output["thread_id"]) for output in one.outputs()]
    assert kinds == [("assistant_message", ROOT), ("compacted", ROOT)]


async def test_a_summary_that_is_too_long_is_cut() -> None:
    one = _tree(on(says="s" * (SUMMARY_CHARACTERS + 5), compaction=True), FULL)
    await one.say("hi")
    summary = (await one.state()).summary
    assert summary is not None
    assert len(summary.text) == SUMMARY_CHARACTERS


async def test_calls_of_a_summariser_are_not_run() -> None:
    one = _tree(on(FETCH, ("echo", {"text": "x"}), says="So far.", compaction=True), FULL)
    await one.say("hi")
    (child,) = compactions(one)
    assert one.told("worker:web") == []
    assert [line for line in await one.lines(child) if line.startswith("Result")] == [
        "Result(fetch, limit)",
        "Result(echo, limit)",
    ]


@pytest.mark.parametrize("how", ["close", "cancel", "text"])
async def test_what_happens_to_its_parent_meanwhile(how: str) -> None:
    one = _tree()
    await one.say("hi")
    one.held.add(ROOT)
    await one.tell("compact")
    (child,) = compactions(one)
    if how == "text":
        await one.tell("user_message", content="more")
        assert (await one.lines())[-1] == "Asst(fine)"
    else:
        await one.tell(how)
    one.held.clear()
    await one.rest()
    assert compacted(one) == ([] if how == "close" else [2])
    assert (await one.state(child)).closed
    if how != "close":
        await one.say("and now?")
        assert newest(one)[0].startswith("user: Summary")


@pytest.mark.parametrize("how", ["a person closes it", "it is cancelled", "its spawn is a dead letter"])
async def test_every_other_end_of_the_summariser_is_heard_too(how: str) -> None:
    one = _tree(on(error="throttled", compaction=True))
    await one.say("hi")
    await one.visit(one.message("compact"))
    (child,) = compactions(one)
    if how == "its spawn is a dead letter":
        await one.deliver(one.sent("spawn")[0], completing=False)
        await one.rest()
    else:
        await one.rest()
        await one.tell("close" if how == "a person closes it" else "cancel", child)
    assert (await one.state(child)).closed
    state = await one.state()
    assert (state.compaction, state.summary) == (None, None)


async def test_a_summariser_whose_spawn_is_given_up_ends_without_a_word_to_the_model() -> None:
    one = _tree()
    await one.say("hi")
    await one.visit(one.message("compact"))
    (spawn,) = one.sent("spawn")
    one.held.add(str(spawn.group))
    before = await one.lines()
    taken = parse_input(spawn.body, Envelope(spawn.id, spawn.group))
    for _ in range(2):
        await give_back(one.world.ports, taken, "It was given up.")
    await one.rest()
    assert (await one.lines(), (await one.state()).compaction) == (before, None)


async def test_a_compaction_on_top_of_an_earlier_one_covers_both() -> None:
    one = _tree(on(says="They greeted, then more.", compaction=True, contains="They greeted"))
    await one.say("hi")
    await one.tell("compact")
    await one.say("more")
    await one.tell("compact")
    _, second = compactions(one)
    assert newest(one, second)[0] == f"user: {SUMMARY_HEAD}They greeted., more"
    await one.say("then?")
    assert newest(one) == [f"user: {SUMMARY_HEAD}They greeted, then more., then?"]
    assert compacted(one) == [2, 4]


async def test_the_first_user_message_can_be_pinned_through_every_compaction() -> None:
    one = _tree(settings={"pin_first_message": True})
    await one.say("my name is Ada")
    await one.tell("compact")
    await one.say("more")
    await one.tell("compact")
    await one.say("who am I?")
    pinned = f"{PINNED_HEAD}my name is Ada\n\n{SUMMARY_HEAD}They greeted."
    assert newest(one) == [f"user: {pinned}, who am I?"]


async def test_a_pinned_message_is_cut_and_turning_it_on_late_pins_no_later_one() -> None:
    one = _tree(settings={"pin_first_message": True})
    await one.say("y" * (PINNED_CHARACTERS + 5))
    await one.tell("compact")
    summary = (await one.state()).summary
    assert summary is not None
    assert len(summary.pinned or "") == PINNED_CHARACTERS
    late = _tree()
    await late.say("hi")
    await late.tell("compact")
    late.world.app = one.world.app
    await late.say("more")
    await late.tell("compact")
    summary = (await late.state()).summary
    assert summary is not None
    assert (summary.up_to_seq, summary.pinned) == (4, None)


def test_a_summary_fits_the_message_that_brings_it() -> None:
    assert SUMMARY_CHARACTERS * 6 < MAX_EVENT_BYTES
