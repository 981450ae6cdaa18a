"""Waiting for the answer to a message that was refused: what the table shows of it."""

import pytest

from infra.client import Answered, NotAccepted, Outcome
from tests.support.client import Talk, talk
from tests.support.inputs import THREAD, close, message, user
from tests.support.played import says


async def _refused(one: Talk, message_id: str = "m1", thread_id: str = THREAD) -> tuple[str, str]:
    """Code and reason, told at once by another client as by the one that has sent it."""
    before = one.world.clock.now()
    told: list[tuple[str, str]] = []
    for client in (one.client, one.another()):
        outcome = await client.wait(thread_id, message_id, 60)
        assert isinstance(outcome, NotAccepted)
        told.append((outcome.code, outcome.reason))
    assert one.world.clock.now() == before
    assert told[0] == told[1]
    return told[0]


async def test_an_unknown_agent() -> None:
    one = talk()
    await one.say("hello", "m1", agent="nobody")
    assert await _refused(one) == ("invalid", "agent: unknown; there are helper")


async def test_a_thread_that_is_closed() -> None:
    one = talk(says("hi"))
    await one.say("hello", "m1")
    await one.world.run(close())
    await one.say("and now?", "m2")
    assert (await _refused(one, "m2"))[0] == "closed"
    outcome = await one.client.wait(THREAD, "m1", 0)
    assert isinstance(outcome, Answered)


async def test_a_thread_that_closes_while_it_is_waited() -> None:
    one = talk(says("hi"))
    await one.say("hello", "m1")
    await one.client.send(THREAD, "late", "m2")
    one.meanwhile(lambda: one.world.run(close()))
    outcome = await one.client.wait(THREAD, "m2", 60)
    assert isinstance(outcome, NotAccepted)
    assert (outcome.code, one.clock.slept) == ("closed", [0.15])


async def test_a_child_that_does_not_exist() -> None:
    one = talk()
    one.world.thread_id = f"{THREAD}~nobody"
    await one.client.send(one.world.thread_id, "hello", "m1")
    await one.deliver()
    assert (await _refused(one, thread_id=one.world.thread_id))[0] == "unknown_thread"


async def test_another_body_under_an_id_that_was_taken_in() -> None:
    """Whoever has sent the other body is told so; whoever only knows the id gets what became of it."""
    one = talk(says("hi"))
    await one.say("hello", "m1")
    await one.say("goodbye", "m1")
    outcome = await one.client.wait(THREAD, "m1", 60)
    assert isinstance(outcome, NotAccepted)
    assert outcome.code == "conflict"
    assert (await one.another().wait(THREAD, "m1", 60)).kind == "answered"


async def test_the_refusal_of_another_message_is_none_of_this() -> None:
    one = talk()
    await one.say("hello", "m1", agent="nobody")
    for thread_id, message_id in ((THREAD, "m2"), ("t2", "m1")):
        assert (await one.client.wait(thread_id, message_id, 0)).kind == "queued"


async def test_an_old_refusal_is_told_only_when_nothing_else_comes() -> None:
    """The same body parks once: of what is sent again nobody can tell whether it is refused again."""
    one = talk()
    await one.say("hello", "m1", agent="nobody")
    one.world.clock.advance(3600)
    await one.client.send(THREAD, "hello", "m1", agent="nobody")
    again = one.another()
    await again.send(THREAD, "hello", "m1", agent="nobody")
    for client in (one.client, again):
        before = one.world.clock.now()
        outcome = await client.wait(THREAD, "m1", 30)
        assert outcome.kind == "refused"
        assert (one.world.clock.now() - before).total_seconds() == pytest.approx(30)


async def test_what_is_sent_again_at_once_is_waited_for() -> None:
    one = talk()
    await one.say("hello", "m1", agent="nobody")
    assert (await one.client.wait(THREAD, "m1", 30)).kind == "refused"
    await one.client.send(THREAD, "hello", "m1", agent="nobody")
    before = one.world.clock.now()
    assert (await one.client.wait(THREAD, "m1", 30)).kind == "refused"
    assert (one.world.clock.now() - before).total_seconds() == pytest.approx(30)


async def test_many_others_may_be_refused_before() -> None:
    one = talk()
    for number in range(15):
        await one.world.run(message("cancel", f"c{number}"))
    await one.say("hello", "m1", agent="nobody")
    assert (await _refused(one))[0] == "invalid"


async def _outcome(one: Talk) -> Outcome:
    return await one.client.wait(THREAD, "m1", 0)


async def test_a_message_that_nobody_sent_is_queued_for_all_one_knows() -> None:
    one = talk(says("hi"))
    assert (await _outcome(one)).kind == "queued"
    await one.world.run(user("hello", "m9"))
    assert (await _outcome(one)).kind == "queued"
