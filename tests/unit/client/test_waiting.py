"""Waiting for an answer that is not there yet: what the thread waits for, how often it is asked, what that costs."""

from datetime import timedelta
from typing import Any

import pytest

from core.errors import ModelUnavailable
from core.settings import Limits
from infra.client import (
    Answered,
    AwaitedAnswer,
    AwaitedCall,
    AwaitedChild,
    AwaitedEvent,
    AwaitedModel,
    AwaitedTime,
    Queued,
    Waiting,
)
from infra.client.awaited import awaited
from tests.support.asking import PAY, answer, asking
from tests.support.client import Talk, talk
from tests.support.inputs import THREAD, message, result, user
from tests.support.played import calls, fails, says
from tests.support.world import START, agent

FETCH, DIG = ("fetch", {"url": "a"}), ("dig", {"depth": 1})
ONE_LOOK = {"page": 1}
NOT_TAKEN_IN = {"page": 1, "parked_lately": 1}


async def _awaits(one: Talk, message_id: str = "m1") -> tuple[Any, ...]:
    outcome = await one.client.wait(THREAD, message_id, 0)
    assert isinstance(outcome, Waiting)
    return outcome.awaits


async def test_calls_with_their_names() -> None:
    one = talk(calls(FETCH, DIG))
    await one.say("go", "m1")
    fetch, dig = await one.world.live()
    in_seconds = timedelta(seconds=1)
    assert await _awaits(one) == (
        AwaitedCall(call_id=fetch, name="fetch", worker="web", deadline_at=START + 600 * in_seconds),
        AwaitedCall(call_id=dig, name="dig", worker="web", deadline_at=START + 60 * in_seconds),
    )


async def test_the_time_of_a_sleep() -> None:
    one = talk(calls(("sleep", {"seconds": 90})))
    await one.say("go", "m1")
    (call_id,) = await one.world.live()
    until = START + timedelta(seconds=90)
    assert await _awaits(one) == (AwaitedTime(call_id=call_id, name="sleep", until=until),)


async def test_a_sleep_without_an_end() -> None:
    one = talk(calls(("sleep_until_event_or_input", {})))
    await one.say("go", "m1")
    (slept,) = await _awaits(one)
    assert (slept.kind, slept.until) == ("time", None)


async def test_a_question_is_told_at_once_and_first() -> None:
    one = talk(calls(FETCH, PAY), app=asking())
    await one.client.send(THREAD, "go", "m1")
    one.meanwhile(one.deliver)
    outcome = await one.client.wait(THREAD, "m1", 3600)
    assert isinstance(outcome, Waiting)
    assert len(one.clock.slept) == 1
    _, pay = await one.world.live()
    question, call = outcome.awaits
    assert question == AwaitedAnswer(
        call_id=pay,
        name="pay",
        question="approval",
        args={"amount": 5},
        expires_at=START + timedelta(seconds=Limits().approval_seconds, milliseconds=0),
    )
    assert (call.kind, outcome.seq) == ("call", 3)


async def test_who_has_answered_a_question_waits_on() -> None:
    one = talk(calls(PAY, ("give", {"amount": 500})), says("paid"), app=asking())
    await one.say("go", "m1")
    assert (await one.client.wait(THREAD, "m1", 60)).kind == "waiting"
    pay, give = await one.world.live()
    one.meanwhile(_nothing, lambda: one.world.run(answer(pay, "a1", approved=False)))
    outcome = await one.client.wait(THREAD, "m1", 60)
    assert isinstance(outcome, Waiting)
    assert ([asked.to_json()["call_id"] for asked in outcome.awaits], len(one.clock.slept) > 20) == (
        [give],
        True,
    )
    one.meanwhile(lambda: one.world.run(answer(give, "a2", approved=True)))
    assert (await one.client.wait(THREAD, "m1", 60)).kind == "answered"


async def test_another_question_of_the_same_call_is_told() -> None:
    one = talk(calls(FETCH))
    await one.say("go", "m1")
    (call_id,) = await one.world.live()
    for number in range(2):
        question = _question(call_id, number)
        one.meanwhile(lambda asked=question: one.world.run(asked))  # type: ignore[misc]
        outcome = await one.client.wait(THREAD, "m1", 60)
        assert isinstance(outcome, Waiting)
        assert [asked.to_json()["prompt"] for asked in outcome.awaits] == [f"Which {number}?"]
        await one.world.run(answer(call_id, f"a{number}", choice="a"))
    assert len(one.clock.slept) == 2


def _question(call_id: str, number: int) -> Any:
    asked = {"kind": "choice", "prompt": f"Which {number}?", "choices": ["a", "b"]}
    return message("question", f"q{number}", call_id=call_id, **asked)  # type: ignore[arg-type]


async def test_a_choice_with_its_prompt() -> None:
    one = talk(calls(FETCH))
    await one.say("go", "m1")
    (call_id,) = await one.world.live()
    asked: dict[str, Any] = {"kind": "choice", "prompt": "Which?", "choices": ["a", "b"], "default": "a"}
    await one.world.run(message("question", "q1", call_id=call_id, expires_in_seconds=60, **asked))
    assert await _awaits(one) == (
        AwaitedAnswer(
            call_id=call_id,
            name="fetch",
            question="choice",
            asked_by="q1",
            prompt="Which?",
            choices=("a", "b"),
            default="a",
            expires_at=START + timedelta(seconds=60),
        ),
    )


async def test_a_model_that_is_asked_again() -> None:
    one = talk(*[fails(ModelUnavailable("away"))] * 3)
    await one.say("go", "m1")
    (model,) = await _awaits(one)
    assert (model.kind, model.tries) == ("model", 3)
    assert model.due_at > one.world.clock.now()


async def test_a_completion_that_is_due() -> None:
    one = talk()
    await one.client.send(THREAD, "go", "m1")
    await one.world.run(*one.inputs(), seconds_left=5)
    assert await _awaits(one) == (AwaitedModel(),)


async def test_open_children() -> None:
    spawn = ("spawn_thread", {"instructions": "dig", "child_of": [THREAD]})
    one = talk(calls(spawn), calls(FETCH))
    await one.say("go", "m1")
    (child,) = (await one.world.state()).children
    call, found = await _awaits(one)
    assert found == AwaitedChild(thread_id=child.thread_id, call_id=child.call_id, child="spawned")
    assert call.kind == "call"


async def test_subscriptions_that_events_may_come_for() -> None:
    one = talk(calls(FETCH), says("watching"))
    await one.say("go", "m1")
    (call_id,) = await one.world.live()
    await one.world.run(result(call_id, subscription=True))
    assert awaited(await one.world.state()) == (AwaitedEvent(call_id=call_id, name="fetch"),)


async def test_the_answer_is_there_as_soon_as_it_is_made() -> None:
    one = talk(calls(FETCH), says("done"))
    await one.client.send(THREAD, "go", "m1")

    async def answer() -> None:
        await one.world.run(result((await one.world.live())[0]))

    one.meanwhile(one.deliver, answer)
    outcome = await one.client.wait(THREAD, "m1", 60)
    assert isinstance(outcome, Answered)
    assert (outcome.text, len(one.clock.slept)) == ("done", 2)


async def test_at_the_timeout_it_is_told_how_things_stand() -> None:
    one = talk(calls(FETCH))
    await one.say("go", "m1")
    outcome = await one.client.wait(THREAD, "m1", 10)
    assert outcome.kind == "waiting"
    assert one.world.clock.now() == START + timedelta(seconds=10)
    assert isinstance(await one.client.wait(THREAD, "m2", -1), Queued)
    assert one.world.clock.now() == START + timedelta(seconds=10)


async def test_it_is_asked_less_and_less_often_until_something_happens() -> None:
    one = talk(calls(FETCH, DIG))
    await one.client.send(THREAD, "go", "m1")
    one.meanwhile(*[_nothing] * 4, one.deliver)
    await one.client.wait(THREAD, "m1", 40)
    first = [0.15, 0.225, 0.338, 0.506, 0.759]
    assert one.clock.slept[:5] == first
    assert one.clock.slept[5:10] == [0.1, 0.15, 0.225, 0.338, 0.506]
    before, after = one.clock.slept[-3:-1]
    assert before > 2
    assert after == pytest.approx(before * 1.05, abs=0.001)


async def test_after_hours_it_is_asked_twice_a_minute() -> None:
    one = talk(calls(FETCH))
    await one.say("go", "m1")
    await one.client.wait(THREAD, "m1", 4 * 3600)
    assert max(one.clock.slept) == 30
    assert len(one.clock.slept) < 600


async def test_a_look_without_news_is_one_request() -> None:
    one = talk(calls(FETCH))
    await one.say("go", "m1")
    costs: list[dict[str, int]] = []

    async def look() -> None:
        costs.append(one.reader.taken())

    one.meanwhile(*[look] * 4)
    one.reader.taken()
    await one.client.wait(THREAD, "m1", 2)
    assert costs == [{"newest": 1, "page": 1, "load": 1}, ONE_LOOK, ONE_LOOK, ONE_LOOK]


async def test_a_look_for_what_is_not_taken_in_is_two() -> None:
    one = talk(says("hi"))
    await one.say("hello", "m1")
    await one.client.send(THREAD, "more", "m2")
    costs: list[dict[str, int]] = []

    async def look() -> None:
        costs.append(one.reader.taken())

    one.meanwhile(*[look] * 3)
    one.reader.taken()
    await one.client.wait(THREAD, "m2", 1)
    assert costs == [{"newest": 1, "taken_in": 1, "load": 1, **NOT_TAKEN_IN}, NOT_TAKEN_IN, NOT_TAKEN_IN]


async def test_many_commits_between_two_looks_are_read_page_by_page() -> None:
    one = talk(*[says("hi")] * 40)
    await one.client.send(THREAD, "last", "m-last")

    async def much() -> None:
        one.reader.taken()
        for number in range(39):
            await one.world.run(user("hello", f"m{number}"))
        await one.deliver()

    one.meanwhile(much)
    outcome = await one.client.wait(THREAD, "m-last", 10)
    assert outcome.kind == "answered"
    assert one.reader.taken() == {"page": 3}


async def test_what_comes_while_the_state_is_looked_at_is_not_missed() -> None:
    one = talk(calls(FETCH), says("done"))
    await one.say("go", "m1")
    load, answered = one.world.store.load, list[bool]()

    async def answer_first(*asked: Any) -> Any:
        if not answered:
            answered.append(True)
            await one.world.run(result((await one.world.live())[0]))
        return await load(*asked)

    one.reader.load = answer_first  # type: ignore[attr-defined]
    assert (await one.client.wait(THREAD, "m1", 0)).kind == "answered"


async def _nothing() -> None:
    """Nothing happens."""


async def test_outcomes_are_json_that_tells_what_they_are() -> None:
    one = talk(calls(("sleep", {"seconds": 90}), FETCH), app=agent())
    await one.say("go", "m1")
    told = (await one.client.wait(THREAD, "m1", 0)).to_json()
    assert told["kind"] == "waiting"
    assert [one["kind"] for one in told["awaits"]] == ["time", "call"]
