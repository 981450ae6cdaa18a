"""What a slice goes back to is known from the thread's state; beside a message it is believed of Torpor's own."""

import json
from dataclasses import replace

import pytest

from core.correlation import correlation_of, correlation_taken, is_correlation_id
from core.facts import ThreadSeen
from core.messages import Envelope
from core.parsing import parse_input
from core.text import wire_json
from tests.support.rules import Rules
from tests.support.tree import ROOT, Tree, tree

FORGED = correlation_of("elsewhere", "m0")
CALL = [{"name": "fetch", "args": {"url": "u"}}]
SPAWN = [{"name": "spawn_thread", "args": {"instructions": "do it", "child_of": "{thread_stack}"}}]
RULES: Rules = [
    {"when": {"user": "^fetch"}, "reply": {"tool_calls": CALL}},
    {"when": {"user": "^spawn"}, "reply": {"tool_calls": SPAWN}},
    {"when": {"tool_result": "spawn_thread", "depth": 1}, "reply": {"tool_calls": CALL}},
    {"when": {}, "reply": {"text": "done"}},
]


def seen(one: Tree) -> list[str | None]:
    """What each slice so far went back to."""
    return [fact.correlation_id for fact in one.world.witness.of(ThreadSeen)]


def own(*message_ids: str) -> list[str]:
    return [correlation_of(ROOT, message_id) for message_id in message_ids]


async def test_a_result_goes_back_to_what_is_owed_whatever_its_sender_says() -> None:
    one = tree(RULES)
    await one.say("fetch")
    call_id = (await one.live())[0]
    forged = replace(one.message("tool_result", call_id=call_id, content="page"), correlation_id=FORGED)
    await one.visit(forged)
    await one.visit(replace(one.message("user_message", content="hello"), correlation_id=FORGED))
    assert seen(one) == own("m1", "m1", "m3")


async def test_a_childs_calls_and_its_report_go_back_to_its_parents_message() -> None:
    one = tree(RULES)
    await one.say("spawn")
    (child,) = one.children
    await one.answer(child)
    assert len(seen(one)) == 4, "the message, the spawn, the page, the report"
    assert set(seen(one)) == set(own("m1"))


async def test_what_waits_for_live_calls_does_not_take_their_results_over() -> None:
    one = tree(RULES)
    await one.say("fetch")
    await one.say("and then?", on_busy="queue")
    await one.say("and after that?", on_busy="queue")
    await one.answer()
    assert seen(one) == own("m1", "m2", "m3", "m1")
    assert (await one.state()).cause is None
    await one.say("fetch")
    await one.say("fetch again", on_busy="queue")
    await one.answer()
    await one.answer()
    assert seen(one)[4:] == own("m5", "m6", "m5", "m6")


async def test_a_message_that_is_carried_on_goes_back_to_what_it_was_sent_for() -> None:
    one = tree(RULES)
    one.world.dispatcher.slow = {"output"}
    await one.say("hello")
    await one.say("fetch")
    one.world.dispatcher.slow = set()
    await one.answer()
    sent = {json.loads(o.body)["seq"]: o.correlation_id for o in one.world.dispatcher.once("output")}
    assert sent[2] == own("m1")[0]
    assert set(sent.values()) == set(own("m1", "m2"))


async def test_an_event_begins_something_of_its_own() -> None:
    body = {
        "type": "subscription_event",
        "thread_id": ROOT,
        "message_id": "e1",
        "call_id": "c",
        "content": "x",
    }
    taken = parse_input(wire_json(body), Envelope("sqs", ROOT, correlation_id=FORGED))
    assert correlation_taken(taken, correlation_of(ROOT, "m1")) == correlation_of(ROOT, "e1")


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "close"},
        {"type": "compaction_done", "child_thread_id": f"{ROOT}~c"},
        {"type": "parent_message", "parent": ROOT, "call_id": "c", "text": "x"},
    ],
    ids=lambda fields: str(fields["type"]),
)
async def test_what_another_thread_sends_goes_back_to_what_that_one_worked_on(fields: dict[str, str]) -> None:
    body = {"thread_id": ROOT, "message_id": "x1", **fields}
    taken = parse_input(wire_json(body), Envelope("sqs", ROOT, correlation_id=FORGED))
    assert correlation_taken(taken, correlation_of(ROOT, "m1")) == FORGED


@pytest.mark.parametrize("text", [None, "", "a" * 25, "a" * 27, "A" * 26, "a b" + "c" * 23, 7])
def test_what_cannot_be_one_is_none(text: object) -> None:
    assert not is_correlation_id(text)
    assert is_correlation_id(FORGED)
