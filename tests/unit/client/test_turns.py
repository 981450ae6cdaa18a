"""A thread as turns: what was said, called and answered; read as they are asked for."""

from typing import cast

from core.entries import Assistant, User
from core.outbox import SendAnswer
from core.sources import Source
from infra.client import AgentClient, Turn
from infra.log_reader import LogReader
from infra.memory import MemoryStore
from tests.contract.commits import made
from tests.contract.commits import user as said
from tests.support.client import Counting, Talk, talk
from tests.support.inputs import THREAD, cancel, message, result, user
from tests.support.played import USAGE, calls, says
from tests.support.recording import RecordingDispatcher

FETCH, ECHO = ("fetch", {"url": "a"}), ("echo", {"text": "b"})
LONG = 5_000
"""Turns; each has two entries."""


async def _turns(one: Talk, after_seq: int = 0) -> list[Turn]:
    return [turn async for turn in one.client.turns(THREAD, after_seq)]


async def test_what_was_said_called_and_answered() -> None:
    one = talk(calls(ECHO, FETCH, text="I look."), says("Found it."))
    await one.world.run(user("go", "m1", metadata={"user_id": "u1"}))
    (call_id,) = await one.world.live()
    source = Source("https://a", "A")
    await one.world.run(result(call_id, sources=[source.to_json()]))
    (turn,) = await _turns(one)
    assert (turn.user_text, turn.answer, turn.open) == ("go", "Found it.", False)
    assert (turn.said[0].message_id, turn.said[0].metadata) == ("m1", {"user_id": "u1"})
    assert [(call.name, call.args, call.outcome) for call in turn.calls] == [(*ECHO, "ok"), (*FETCH, "ok")]
    assert (turn.remarks, turn.citations, turn.route) == (("I look.",), (source,), None)
    assert (turn.first_seq, turn.last_seq) == (1, (await one.world.state()).last_seq)


async def test_one_turn_after_the_other() -> None:
    one = talk(*(says(f"answer {number}") for number in range(3)))
    for number in range(3):
        await one.world.run(user(f"question {number}", f"m{number}"))
    found = await _turns(one)
    assert [(turn.user_text, turn.answer) for turn in found] == [
        (f"question {number}", f"answer {number}") for number in range(3)
    ]
    assert [(turn.first_seq, turn.last_seq) for turn in found] == [(1, 2), (3, 4), (5, 6)]
    assert await _turns(one, found[0].last_seq) == found[1:]
    assert await _turns(one, found[2].last_seq) == []


async def test_what_interrupts_a_turn_belongs_to_it() -> None:
    one = talk(calls(ECHO, FETCH), says("instead"))
    await one.world.run(user("go", "m1"))
    await one.world.run(user("no, stop", "m2"))
    (turn,) = await _turns(one)
    assert (turn.user_text, turn.answer) == ("go\nno, stop", "instead")
    assert [call.outcome for call in turn.calls] == ["ok", "interrupted"]


async def test_a_turn_that_is_open() -> None:
    one = talk(calls(FETCH, text="I look."))
    await one.world.run(user("go", "m1"))
    (turn,) = await _turns(one)
    assert (turn.open, turn.answer, turn.remarks) == (True, None, ("I look.",))
    assert [call.outcome for call in turn.calls] == [None]


async def test_a_turn_that_ended_otherwise() -> None:
    one = talk(calls(FETCH), says("hi"))
    await one.world.run(user("go", "m1"))
    await one.world.run(cancel())
    await one.world.run(user("hello", "m2"))
    ended, answered = await _turns(one)
    assert (ended.ended, ended.answer, ended.open) == ("cancelled", None, False)
    assert (answered.user_text, answered.answer) == ("hello", "hi")


async def test_an_event_begins_a_turn() -> None:
    one = talk(calls(FETCH), says("watching"), says("aha"))
    await one.world.run(user("watch", "m1"))
    (call_id,) = await one.world.live()
    await one.world.run(result(call_id, subscription=True))
    event = message("subscription_event", "e1", call_id=call_id, content="rain", associative=True)
    await one.world.run(event)
    _, turn = await _turns(one)
    assert [(said.kind, said.text, said.name) for said in turn.said] == [("event", "rain", "fetch")]
    assert (turn.user_text, turn.answer) == ("", "aha")


async def test_a_thread_that_is_not_there_has_none() -> None:
    assert await _turns(talk()) == []


async def _long_log() -> MemoryStore:
    """Ten thousand entries."""
    store = MemoryStore()
    for number in range(1, LONG + 1):
        seq = 2 * number
        answer = SendAnswer(first_seq=seq, last_seq=seq, final=True, usage=USAGE, stop_reason="end_turn")
        entries: list[User | Assistant] = [said(f"question {number}"), Assistant(text=f"answer {number}")]
        await store.commit(made(number, entries, first_seq=seq - 1, outbox=[answer]))
    return store


async def test_ten_thousand_entries_are_not_read_for_the_first_turns() -> None:
    reader = Counting(await _long_log())
    client = AgentClient(cast(LogReader, reader), RecordingDispatcher(talk().clock))
    turns = client.turns("thread-1")
    assert [(await anext(turns)).answer for _ in range(3)] == ["answer 1", "answer 2", "answer 3"]
    assert reader.taken() == {"newest": 1, "page": 1}
    await turns.aclose()
    late = client.turns("thread-1", 2 * LONG - 6)
    assert [turn.answer async for turn in late] == [f"answer {LONG - back}" for back in (2, 1, 0)]
    assert reader.taken() == {"newest": 1, "commit_holding": 1, "page": 1}
