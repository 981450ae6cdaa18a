"""Sending: what is put on the input queue, what is refused before, and sending again."""

import json
from typing import Any

import pytest

from core.errors import Refused
from core.parsing import MAX_BODY_DEPTH
from infra.client import Answered
from infra.client.ids import new_id
from infra.queue_errors import QueueUnavailable, Unsendable
from infra.sqs.limits import MAX_BODY_BYTES
from tests.support.client import talk
from tests.support.inputs import THREAD
from tests.support.played import calls, says


async def test_a_message_is_sent_to_its_threads_group_with_all_it_was_given() -> None:
    one = talk()
    more: dict[str, Any] = {"metadata": {"user_id": "u1"}, "on_busy": "queue", "agent": "helper"}
    assert await one.client.send(THREAD, "Grüße", "m1", **more) == "m1"
    (sent,) = one.queue.sent
    assert (sent.queue, sent.group, sent.body.isascii()) == ("input", THREAD, True)
    head = {"v": 1, "type": "user_message", "thread_id": THREAD, "message_id": "m1"}
    assert json.loads(sent.body) == {**head, "content": "Grüße", **more}


async def test_blocks_are_sent_as_they_are() -> None:
    one = talk()
    blocks: list[dict[str, Any]] = [{"type": "text", "text": "look"}, {"type": "json", "data": {"n": 1}}]
    await one.client.send(THREAD, blocks, "m1")
    assert json.loads(one.queue.sent[0].body)["content"] == blocks


async def test_a_message_without_an_id_gets_one_before_it_is_sent() -> None:
    one = talk()
    ids = [await one.client.send(THREAD, text) for text in ("a", "a")]
    assert ids == [json.loads(sent.body)["message_id"] for sent in one.queue.sent]
    assert len(set(ids)) == 2


def test_ids_are_never_the_same_and_fit_everywhere() -> None:
    made = {new_id() for _ in range(1000)}
    assert len(made) == 1000
    assert {len(one) for one in made} == {26}
    assert "".join(made).isalnum()


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"thread_id": "a b"}, "thread_id"),
        ({"thread_id": ""}, "thread_id"),
        ({"message_id": ""}, "message_id"),
        ({"message_id": "x" * 129}, "message_id"),
        ({"message_id": "a\x00b"}, "message_id"),
        ({"content": 5}, "content"),
        ({"content": [{"type": "picture"}]}, "content"),
        ({"content": "x" * MAX_BODY_BYTES}, "body"),
        ({"content": [{"type": "json", "data": object()}]}, "body"),
        ({"metadata": {"at": object()}}, "body"),
        ({"metadata": {"n": float("nan")}}, "body"),
        ({"metadata": ["no"]}, "metadata"),
        ({"on_busy": "wait"}, "on_busy"),
        ({"agent": "x" * 65}, "agent"),
    ],
)
async def test_what_no_thread_would_take_is_refused_before_it_is_sent(
    changed: dict[str, Any], field: str
) -> None:
    one = talk()
    with pytest.raises(Refused, match=rf"^{field}") as refused:
        await one.client.send(**{"thread_id": THREAD, "content": "hello", "message_id": "m1", **changed})
    assert refused.value.code == "invalid"
    assert one.queue.sent == []


async def test_what_is_nested_too_deep_is_refused_too() -> None:
    one, deep = talk(), dict[str, Any]()
    for _ in range(MAX_BODY_DEPTH):
        deep = {"deeper": deep}
    with pytest.raises(Refused, match="nested"):
        await one.client.send(THREAD, "hello", metadata=deep)


async def test_sent_again_under_its_id_a_message_is_answered_once() -> None:
    one = talk(says("hi"))
    await one.say("hello", "m1")
    await one.say("hello", "m1")
    assert await one.world.lines() == ["User(hello)", "Asst(hi)"]
    assert isinstance(await one.client.wait(THREAD, "m1", 0), Answered)


async def test_a_message_that_was_refused_because_the_thread_was_busy_gets_through_when_it_is_sent_again() -> (
    None
):
    """The queue forgets a deduplication id only after five minutes: every sending has one of its own."""
    one = talk(calls(("fetch", {"url": "a"})), says("done"))
    one.world.limit(deferred_inputs=1)
    await one.say("go", "m1")
    for message_id in ("m2", "m3"):
        await one.say("more", message_id, on_busy="queue")
    refused = await one.client.wait(THREAD, "m3", 0)
    assert (refused.kind, getattr(refused, "code", "")) == ("refused", "busy")
    await one.say("stop", "m4")
    one.world.model.play(says("now"))
    await one.say("more", "m3", on_busy="queue")
    assert len({sent.id for sent in one.queue.sent}) == 5
    answered = await one.client.wait(THREAD, "m3", 0)
    assert isinstance(answered, Answered)
    assert answered.text == "now"


async def test_a_queue_that_does_not_answer_is_told_apart_from_one_that_never_will() -> None:
    one = talk()
    one.queue.slow.add("input")
    with pytest.raises(QueueUnavailable):
        await one.client.send(THREAD, "hello", "m1")
    one.queue.gone.add("input")
    with pytest.raises(Unsendable):
        await one.client.send(THREAD, "hello", "m1")
