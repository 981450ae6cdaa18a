"""Waiting for an answer that is there: found by the message's id alone, however it came about and however long ago."""

from typing import Any, cast

import pytest

from core.entries import TurnEnd
from core.errors import ModelUnavailable
from core.outbox import SendError
from core.settings import Limits
from core.sources import Source
from infra.client import AgentClient, Answered, Ended, Outcome
from infra.client.endings import Search
from infra.log_reader import LogReader
from tests.contract.commits import made
from tests.contract.commits import user as said
from tests.support.client import Talk, talk
from tests.support.inputs import THREAD, cancel, close, result, user
from tests.support.played import USAGE, calls, fails, says, signed
from tests.support.rules import on, spawn, task
from tests.support.tree import tree
from tests.support.world import START, agent

FETCH = ("fetch", {"url": "a"})


async def _waited(one: Talk, message_id: str = "m1") -> Outcome:
    """What is there already."""
    return await one.another().wait(THREAD, message_id, 0)


async def _answer(one: Talk, message_id: str = "m1") -> tuple[str, str]:
    """The answer's text, and the newest message that it answers."""
    outcome = await _waited(one, message_id)
    assert isinstance(outcome, Answered)
    return outcome.text, outcome.newest_message_id


async def test_the_final_answer_with_all_that_belongs_to_it() -> None:
    one = talk(calls(FETCH, text="I look."), [signed("hm"), *says("Found", " it.")])
    await one.say("go", "m1")
    source = Source("https://a", "A")
    (call_id,) = await one.world.live()
    await one.world.run(result(call_id, sources=[source.to_json()]))
    assert await _waited(one) == Answered(
        thread_id=THREAD,
        message_id="m1",
        text="Found it.",
        seq=6,
        at=START,
        citations=(source,),
        usage=USAGE,
        stop_reason="end_turn",
        newest_message_id="m1",
    )


async def test_messages_that_came_together_have_one_answer() -> None:
    one = talk(says("both"))
    for message_id in ("m1", "m2"):
        await one.client.send(THREAD, message_id, message_id)
    await one.deliver()
    assert [await _answer(one, message_id) for message_id in ("m1", "m2")] == [("both", "m2")] * 2


async def test_a_message_that_was_interrupted_has_the_answer_to_what_interrupted_it() -> None:
    one = talk(calls(FETCH), says("instead"))
    await one.say("go", "m1")
    await one.say("no, stop", "m2")
    assert await _answer(one, "m1") == await _answer(one, "m2") == ("instead", "m2")


async def test_a_message_that_had_to_wait_is_answered_when_it_has_joined() -> None:
    one = talk(calls(FETCH), says("to both"))
    await one.say("go", "m1")
    await one.say("and this", "m2", on_busy="queue")
    assert (await _waited(one, "m2")).kind == "waiting"
    await one.world.run(result((await one.world.live())[0]))
    assert await _answer(one, "m2") == ("to both", "m2")


async def test_each_message_has_its_own_answer_and_not_the_next_ones() -> None:
    one = talk(*(says(f"answer {number}") for number in range(5)))
    for number in range(5):
        await one.say(f"question {number}", f"m{number}")
    for number in range(5):
        assert await _answer(one, f"m{number}") == (f"answer {number}", f"m{number}")


async def test_what_was_cancelled_before_does_not_count() -> None:
    one = talk(calls(FETCH), says())
    await one.say("go", "m1")
    await one.client.send(THREAD, "hello", "m2")
    await one.world.run(cancel(), *one.inputs())
    outcomes = [await _waited(one, message_id) for message_id in ("m1", "m2")]
    ends = [(ended.reason, ended.code) for ended in outcomes if isinstance(ended, Ended)]
    assert ends == [("cancelled", None), ("empty", "model")]


async def test_an_answer_within_the_limits_is_one() -> None:
    one = talk(calls(FETCH, text="So far."), app=agent(limits=Limits(turns_per_user_input=1)))
    one.world.model.play(calls(FETCH, text="Last words."))
    await one.say("go", "m1")
    await one.world.run(result((await one.world.live())[0]))
    assert await _answer(one) == ("Last words.", "m1")


@pytest.mark.parametrize(
    ("turn", "reason", "code", "told"),
    [
        (says(), "empty", "model", "no answer"),
        (fails(ModelUnavailable("away")), "failed", "model", "could not be reached"),
        (calls(FETCH), "limit", "limit", "within the limits"),
    ],
    ids=["empty", "failed", "limit"],
)
async def test_a_turn_that_ended_without_an_answer(turn: Any, reason: str, code: str, told: str) -> None:
    one = talk(turn, app=agent(limits=Limits(model_tries=1, tokens=1 if reason == "limit" else 10_000)))
    await one.say("go", "m1")
    ended = await _waited(one)
    assert isinstance(ended, Ended)
    assert (ended.reason, ended.code, ended.seq) == (reason, code, (await one.world.state()).last_seq)
    assert told in ended.message


async def test_a_dead_letter_ends_it() -> None:
    one = talk()
    await one.client.send(THREAD, "go", "m1")
    await one.world.run(*one.inputs(), completing=False)
    ended = await _waited(one)
    assert isinstance(ended, Ended)
    assert (ended.reason, ended.code) == ("failed", "dead_letter")


async def test_a_closed_thread_ends_it() -> None:
    one = talk(calls(FETCH))
    await one.say("go", "m1")
    await one.world.run(close())
    ended = await _waited(one)
    assert isinstance(ended, Ended)
    assert ended.reason == "cancelled"


async def test_a_child_that_closes_itself_without_a_word_ends_it() -> None:
    one = tree(
        [
            on(spawn("dig"), user="go", depth=0),
            on(FETCH, **task("dig")),
            on(("close_thread", {"thread_id": "{thread_id}"}), user="enough"),
            on(says="fine"),
        ]
    )
    await one.say("go")
    (child,) = one.children
    await one.say("enough", child, message_id="m1")
    client = AgentClient(cast(LogReader, one.world.store), one.world.dispatcher, clock=one.world.clock)
    ended = await client.wait(child, "m1", 0)
    assert isinstance(ended, Ended)
    assert (ended.reason, ended.code) == ("closed", None)


def test_the_error_that_ended_a_turn_is_the_one_that_names_whom_it_was_owed_to() -> None:
    asked = said("go").model_copy(update={"message_id": "m1"})
    errors = [
        SendError(code="state", message="set aside"),
        SendError(code="model", message="away", message_id="m1"),
    ]
    ended = Search(THREAD, "m1").see(made(1, [asked, TurnEnd(reason="failed")], outbox=errors))
    assert isinstance(ended, Ended)
    assert (ended.code, ended.message) == ("model", "away")


async def test_an_answer_of_long_ago_is_found_without_reading_what_lies_between() -> None:
    one = talk(*(says(f"answer {number}") for number in range(60)))
    for number in range(60):
        await one.world.run(user(f"question {number}", f"m{number}"))
        one.world.clock.advance(3600)
    one.reader.taken()
    assert await _answer(one, "m3") == ("answer 3", "m3")
    assert one.reader.taken() == {"newest": 1, "taken_in": 1, "page": 1}
    assert await _answer(one, "m59") == ("answer 59", "m59")
    assert one.reader.taken() == {"newest": 1, "page": 1}


async def test_the_answer_of_an_unsettled_commit_is_there() -> None:
    """Its marker is not: whoever made the commit died before."""
    one = talk(says("hi"))
    one.world.dispatcher.slow.add("output")
    await one.say("hello", "m1")
    assert (await one.world.store.load(THREAD)).tip == 0
    assert await _answer(one) == ("hi", "m1")
