"""What sending a parked body again means: its ids, in whose name, and what is not sent."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.errors import MisuseError
from core.ports import ParkedBody
from core.senders import FIRST_SENDER
from infra.operations.parked import KeptBody
from infra.operations.redrive import KNOWN_AGAIN, redriven

NOW = datetime(2025, 1, 2, tzinfo=UTC)
WORKER = "AROA4EXAMPLE0000WEB01:web"


def kept(body: str, *, source: str = "input", sender: str | None = WORKER, **more: Any) -> KeptBody:
    parked = ParkedBody(
        source, "dead_letter: x", more.pop("first_seen", NOW - timedelta(days=1)), "sqs-1", body, sender
    )
    return KeptBody("abc", parked, {}, **more)


def user(**fields: Any) -> str:
    return json.dumps({"type": "user_message", "thread_id": "t1", "content": "hi", **fields})


def test_an_input_is_sent_to_its_thread_in_its_first_senders_name() -> None:
    again = redriven(kept(user(message_id="m1")), NOW, vouched=False)
    assert (again.message.queue, again.message.group) == ("input", "t1")
    assert again.message.body == user(message_id="m1")
    assert again.attributes == {FIRST_SENDER: WORKER}


def test_what_was_known_by_the_queues_id_keeps_it() -> None:
    for named in ({}, {"message_id": None}):
        again = redriven(kept(user(**named)), NOW, vouched=False)
        assert json.loads(again.message.body) == {**json.loads(user()), "message_id": "sqs-1"}


def test_each_sending_is_another_message_to_the_queue() -> None:
    ids = {redriven(kept(user()), NOW + timedelta(seconds=s), vouched=False).message.id for s in (0, 1)}
    assert len(ids | {"sqs-1", "m1"}) == 4


def test_who_vouches_speaks_in_the_operators_own_name() -> None:
    for sender in (WORKER, None):
        assert redriven(kept(user(), sender=sender), NOW, vouched=True).attributes == {}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (kept(user(), sender=None), "who sent it"),
        (kept(user(), gone=True), "no longer stored"),
        (kept("{not json"), "refused again"),
        (kept(user(content=None)), "refused again"),
        (kept(user(), source="delay"), "refused again"),
        (kept(user(), first_seen=NOW - KNOWN_AGAIN - timedelta(seconds=1)), "so long ago"),
    ],
)
def test_what_could_do_no_good_is_not_sent(body: KeptBody, why: str) -> None:
    with pytest.raises(MisuseError, match=why):
        redriven(body, NOW, vouched=False)


def test_a_timer_goes_back_to_the_delay_queue_also_out_of_the_schedule_that_could_not_send_it() -> None:
    timer = json.dumps(
        {"type": "timer", "thread_id": "t1", "message_id": "m1", "due_at": "2025-01-01T00:00:00Z"}
    )
    wrapped = json.dumps({"MessageBody": timer, "QueueUrl": "url"})
    for body in (timer, wrapped):
        again = redriven(kept(body, source="delay"), NOW, vouched=False)
        assert (again.message.queue, again.message.body, again.attributes) == ("delay", timer, {})


def test_a_workers_body_goes_back_to_its_worker() -> None:
    again = redriven(kept("garbage", source="worker:web"), NOW, vouched=False)
    assert (again.message.queue, again.message.body, again.message.group) == ("worker:web", "garbage", None)
