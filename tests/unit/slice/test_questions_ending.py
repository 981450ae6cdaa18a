"""What else ends a question: its expiry, user text, `cancel`, `close`; what waits meanwhile; and who may answer."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from core.entries import ToolResult
from core.errors import Refused
from core.history.answers import NOT_APPROVED as NOT_YET_APPROVED
from core.messages import Envelope
from core.parsing import parse_input
from core.render import plain_text
from core.senders import Enforced
from core.settings import Limits
from core.slice import run_slice
from core.text import wire_json
from tests.support.asking import PAY, RUN, WIPE, asking
from tests.support.rules import FETCH, on, spawn, spawned, task
from tests.support.tree import ROOT, Tree, tree
from tests.support.world import START

RULES = [
    on(WIPE, user="wipe", depth=0),
    on(PAY, user="pay", depth=0),
    on(FETCH, user="watch", depth=0),
    on(spawn("dig"), user="dig", depth=0),
    on(says="off they go", **spawned()),
    on(WIPE, **task("dig")),
    on(says="so be it", tool_result="wipe"),
    on(says="fine"),
]


def _tree() -> Tree:
    return tree(RULES, app=asking(limits=Limits(approval_seconds=120)))


def _outcomes(one: Tree) -> list[str]:
    return [output["outcome"] for output in one.outputs("question_closed")]


async def _last_result(one: Tree, thread_id: str = ROOT) -> tuple[str, str]:
    found = [entry for entry in await one.entries(thread_id) if isinstance(entry, ToolResult)]
    return found[-1].outcome, plain_text(found[-1].content)


async def test_nobody_answers_in_time_and_the_call_is_never_run() -> None:
    one = _tree()
    await one.say("wipe")
    await one.advance(119)
    assert _outcomes(one) == []
    await one.advance(1)
    outcome, _ = await _last_result(one)
    assert (outcome, _outcomes(one), RUN) == ("timed_out", ["expired"], [])
    assert (await one.lines())[-1] == "Asst(so be it)"
    (call_id,) = [output["call_id"] for output in one.outputs("question")]
    report = await one.tell("answer", call_id=call_id, approved=True)
    assert (report.inputs, RUN) == (("stale",), [])


async def test_user_text_interrupts_a_question_and_the_model_hears_that_nothing_was_run() -> None:
    one = _tree()
    await one.say("wipe")
    (call_id,) = await one.live()
    await one.say("never mind")
    assert (await one.lines())[-3:] == ["Result(wipe, interrupted)", "User(never mind)", "Asst(so be it)"]
    assert await _last_result(one) == ("interrupted", NOT_YET_APPROVED)
    assert _outcomes(one) == ["interrupted"]
    report = await one.tell("answer", call_id=call_id, approved=True)
    assert (report.inputs, RUN) == (("stale",), [])


@pytest.mark.parametrize("how", ["cancel", "close"])
async def test_cancel_and_close_end_a_question(how: str) -> None:
    one = _tree()
    await one.say("pay")
    (call_id,) = await one.live()
    await one.tell(how)
    assert _outcomes(one) == ["interrupted"]
    report = await one.tell("answer", call_id=call_id, approved=True)
    assert one.told("worker:bank") == []
    if how == "cancel":
        assert report.inputs == ("stale",)
    else:
        assert isinstance(report.inputs[0], Refused)
        assert one.outputs("error")[-1]["code"] == "closed"


async def test_an_open_question_is_not_passive_events_and_reports_wait_for_its_end() -> None:
    one = _tree()
    await one.say("watch")
    (watch,) = await one.live()
    await one.answer(content="subscribed", subscription=True)
    await one.say("dig")
    await one.say("wipe")
    before = await one.lines()
    await one.tell("subscription_event", call_id=watch, content="news", associative=True)
    await one.tell("cancel", one.children[0])
    await one.say("and this", on_busy="queue")
    assert await one.lines() == before
    assert len((await one.state()).deferred) == 3
    await one.tell("answer", call_id=(await one.live())[0], approved=False)
    joined = (await one.lines())[len(before) :]
    assert [line.partition("(")[0] for line in joined] == ["Result", "Event", "Event", "User", "Asst"]


async def test_a_childs_question_is_answered_in_the_child() -> None:
    one = _tree()
    await one.say("dig")
    (child,) = one.children
    (asked,) = one.outputs("question")
    assert (asked["thread_id"], asked["root_thread_id"]) == (child, ROOT)
    report = await one.tell("answer", call_id=asked["call_id"], approved=True)
    assert (report.inputs, RUN) == (("stale",), [])
    await one.tell("answer", child, call_id=asked["call_id"], approved=True)
    assert RUN == ["sda"]
    assert "so be it" in str(await one.lines())


async def test_a_child_that_is_closed_takes_its_question_with_it() -> None:
    one = _tree()
    await one.say("dig")
    await one.tell("close")
    assert (await one.state(one.children[0])).closed
    assert _outcomes(one) == ["interrupted"]


@pytest.mark.parametrize("who", ["a worker", "a stranger", "nobody"])
async def test_an_answer_from_somebody_who_may_not_is_refused_and_the_question_stays(who: str) -> None:
    one = _tree()
    await one.say("wipe")
    (call_id,) = await one.live()
    policy = Enforced(
        agent="A", relay="R", dead_letters="D", workers={"bank": "WORKER"}, user_senders=("PERSON",)
    )
    sender = {"a worker": "WORKER:i-1", "a stranger": "STRANGER", "nobody": None}[who]
    inputs = await _from(one, sender, policy, call_id=call_id, approved=True)
    assert isinstance(inputs[0], Refused)
    assert (one.outputs("error")[0]["code"], RUN, _outcomes(one)) == ("forbidden", [], [])
    assert await _from(one, "PERSON", policy, call_id=call_id, approved=True) == ("accepted",)
    assert RUN == ["sda"]


async def _from(one: Tree, sender: str | None, policy: Enforced, **fields: Any) -> tuple[object, ...]:
    """An answer under this sender."""
    body = {"type": "answer", "thread_id": ROOT, "message_id": f"a-{sender}", **fields}
    taken = parse_input(wire_json(body), Envelope("sqs", ROOT, sender=sender))
    ports = replace(one.world.ports, models=lambda name: one.model)
    report = await run_slice(one.world.app, ports, ROOT, [taken], seconds_left=lambda: 900.0, senders=policy)
    return report.inputs


async def test_a_dead_answer_still_counts_but_the_tool_is_not_run_by_the_dead_letter_handler() -> None:
    one = _tree()
    await one.say("wipe")
    (call_id,) = await one.live()
    await one.visit(one.message("answer", call_id=call_id, approved=True), completing=False)
    assert (RUN, (await _last_result(one))[0]) == ([], "error")
    await one.rest()
    assert (await one.lines())[-1] == "Asst(so be it)"


async def test_the_timer_of_an_approval_and_of_the_deadline_after_it() -> None:
    one = _tree()
    await one.say("pay")
    state = await one.state()
    assert state.timer is not None
    assert state.timer.due_at == START + timedelta(seconds=120)
    await one.tell("answer", call_id=state.live[0].call_id, approved=True)
    await one.advance(120)
    assert len(await one.live()) == 1
    await one.advance(480)
    assert (await _last_result(one))[0] == "timed_out"
    assert one.told("worker:bank") == [("tool_call", ROOT), ("tool_cancel", ROOT)]
