"""`run_chat`: a question, its answer as a dict, and what is raised where there is none; over both clients."""

import asyncio
from contextlib import nullcontext

import pytest

from core.entries import User
from core.errors import MisuseError, Refused
from core.render import plain_text
from core.sources import Source
from core.supervisor import Supervisor
from infra.client import Ended, NotAnswered, Queued, SyncAgentClient, Waiting, run_chat
from tests.support.client import Talk, talk
from tests.support.inputs import THREAD, result, user
from tests.support.played import calls, says
from tests.support.world import agent

FETCH = ("fetch", {"url": "a"})


def _answering(*turns: object, **fields: object) -> Talk:
    """A world in which what is sent is taken in while the client waits."""
    one = talk(*turns, **fields)  # type: ignore[arg-type]
    one.meanwhile(one.deliver)
    return one


async def test_it_says_and_answers() -> None:
    one = _answering(says("hi"))
    chat = await run_chat(one.client, THREAD, "hello", 10)
    assert chat == {"thread_id": THREAD, "route": None, "answer": "hi", "citations": []}


async def test_citations_are_as_in_outputs() -> None:
    one = _answering(calls(FETCH), says("found"))
    source = Source("https://a", "A", "snip")

    async def find() -> None:
        await one.world.run(result((await one.world.live())[0], sources=[source.to_json()]))

    one.meanwhile(find)
    chat = await run_chat(one.client, THREAD, "go", 10)
    assert chat["citations"] == one.world.dispatcher.outputs[-1]["citations"] == [source.to_json()]


async def test_the_route_is_who_answered() -> None:
    bills, orders = agent("bills"), agent("orders")
    desk = Supervisor("desk", {"billing": bills, "orders": orders}, model="test:desk")
    one = _answering(says("billing"), says("You owe nothing."), app=desk)
    assert (await run_chat(one.client, THREAD, "what do I owe?", 10))["route"] == "billing"
    assert [turn.route async for turn in one.client.turns(THREAD)] == ["billing"]


async def test_what_it_waits_for_is_raised_with_the_outcome() -> None:
    one = _answering(calls(("sleep", {"seconds": 90}), FETCH))
    with pytest.raises(
        NotAnswered, match=r"waits for the end of sleep at .*; the call fetch of worker web"
    ) as raised:
        await run_chat(one.client, THREAD, "go", 1)
    assert isinstance(raised.value.outcome, Waiting)


async def test_an_end_without_an_answer_is_raised_too() -> None:
    one = _answering(says())
    with pytest.raises(NotAnswered, match=r"\(empty\): model: ") as raised:
        await run_chat(one.client, THREAD, "go", 10)
    assert isinstance(raised.value.outcome, Ended)
    with pytest.raises(NotAnswered) as raised:
        await run_chat(one.client, THREAD, "nobody listens", 0)
    assert isinstance(raised.value.outcome, Queued)


async def test_what_cannot_be_sent_is_refused() -> None:
    with pytest.raises(Refused):
        await run_chat(talk().client, "a b", "hello", 10)


def test_without_an_event_loop() -> None:
    one = _answering(says("hi"), says("again"))
    with SyncAgentClient(nullcontext(one.client)) as client:
        assert run_chat(client, THREAD, "hello", 10)["answer"] == "hi"
        one.meanwhile(one.deliver)
        assert client.wait(THREAD, client.send(THREAD, "and?", "m2"), 10).kind == "answered"
        assert [turn.answer for turn in client.turns(THREAD)] == ["hi", "again"]
        assert client.tree(THREAD).last_seq == 4


def test_following_without_an_event_loop_begins_and_ends_as_it_is_asked() -> None:
    one = talk(says("hi"), says("again"))
    with SyncAgentClient(nullcontext(one.client)) as client:
        client.run(one.world.run(user("hello", "m1")))
        one.meanwhile(lambda: one.world.run(user("and?", "m2")))
        entries = client.follow(THREAD)
        texts = [
            plain_text(entry.content)
            for entry, _ in zip(entries, range(3), strict=False)
            if isinstance(entry, User)
        ]
        assert texts == ["hello", "and?"]
        later = client.follow(THREAD, 3)
        assert next(later).seq == 4
    with pytest.raises(MisuseError):
        next(later)


async def test_the_synchronous_face_works_inside_a_running_loop_too() -> None:
    assert asyncio.get_running_loop().is_running()
    one = _answering(says("hi"))
    with SyncAgentClient(nullcontext(one.client)) as client:
        assert run_chat(client, THREAD, "hello", 10)["answer"] == "hi"


def test_a_client_that_is_not_open_says_so() -> None:
    client = SyncAgentClient(nullcontext(talk().client))
    for _ in range(2):
        with pytest.raises(MisuseError, match="not open"):
            client.send(THREAD, "hello")
        with client:
            assert client.tree(THREAD).status == "absent"


def test_what_was_opened_is_closed_also_after_an_error() -> None:
    one, told = talk(), list[str]()

    class Opening:
        async def __aenter__(self) -> object:
            told.append("opened")
            return one.client

        async def __aexit__(self, *error: object) -> None:
            told.append(f"closed after {getattr(error[0], '__name__', None)}")

    with pytest.raises(Refused), SyncAgentClient(Opening()) as client:  # type: ignore[arg-type]
        client.send("a b", "hello")
    assert told == ["opened", "closed after Refused"]
