"""The `Dispatcher` contract, over SQS and in memory: order, repeats, outputs last, what can never be sent, delays."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.correlation import ATTRIBUTE
from core.ports import Outgoing
from infra.sqs.limits import MAX_BODY_BYTES
from infra.sqs.requests import attributes_of
from tests.contract.dispatchers import FOR_EVER, PATIENCE_SECONDS, START, MemoryRigs, Rigs, SqsRigs, message

CALLS = [message("worker:research", f"call{number}") for number in range(5)]


@pytest.fixture(params=["memory", "sqs"])
def rigs(request: pytest.FixtureRequest) -> Rigs:
    if request.param == "memory":
        return MemoryRigs()
    return SqsRigs(request.getfixturevalue("aws_endpoint"))


async def test_everything_arrives_in_order_and_outputs_go_last(rigs: Rigs) -> None:
    outputs = [message("output", f"out{number}", "t1") for number in range(12)]
    async with rigs.open() as rig:
        assert (
            await rig.dispatcher.send([outputs[0], *CALLS, *outputs[1:], message("input", "wake", "t1")])
            == ()
        )
        assert await rig.arrived("output") == [f"out{number}" for number in range(12)]
        assert sorted(await rig.arrived("worker:research")) == [f"call{number}" for number in range(5)]
        assert await rig.arrived("input") == ["wake"]
        tries = rig.faults.tries
        assert tries.index("out0") > max(tries.index("wake"), tries.index("call4"))


async def test_a_partly_failed_batch_send_sends_only_the_failed_messages_again(rigs: Rigs) -> None:
    async with rigs.open() as rig:
        rig.faults.fail("call1")
        rig.faults.fail("call3", times=2)
        assert await rig.dispatcher.send(CALLS) == ()
        assert rig.faults.tries == ["call0", "call1", "call2", "call3", "call4", "call1", "call3", "call3"]
        assert sorted(await rig.arrived("worker:research")) == [f"call{number}" for number in range(5)]


async def test_after_an_unconfirmed_message_later_ones_of_its_group_are_not_tried(rigs: Rigs) -> None:
    mine = [message("output", f"mine{number:02}", "t1") for number in range(12)]
    other = [message("output", f"other{number}", "t2") for number in range(3)]
    async with rigs.open() as rig:
        rig.faults.fail("mine00", FOR_EVER)
        unsent = await rig.dispatcher.send([*mine, *other])
        assert [(left.message.id, left.permanent) for left in unsent] == [
            ("id-mine00", False),
            ("id-mine10", False),
            ("id-mine11", False),
        ]
        assert {"mine10", "mine11"} & set(rig.faults.tries) == set()
        assert await rig.arrived("output") == [
            *(f"mine{n:02}" for n in range(1, 10)),
            "other0",
            "other1",
            "other2",
        ]
        assert rig.clock.now() - START <= timedelta(seconds=PATIENCE_SECONDS)


async def test_one_broken_queue_holds_up_no_other_and_outputs_still_go(rigs: Rigs) -> None:
    async with rigs.open() as rig:
        rig.faults.fail("call0", FOR_EVER)
        messages = [CALLS[0], message("input", "wake", "t1"), message("output", "out", "t1")]
        unsent = await rig.dispatcher.send(messages)
        assert [(left.message, left.permanent) for left in unsent] == [(CALLS[0], False)]
        assert await rig.arrived("input") == ["wake"]
        assert await rig.arrived("output") == ["out"]
        assert rig.faults.tries[-1] == "out"


@pytest.mark.parametrize(
    "impossible",
    [
        message("worker:gone", "call0"),
        Outgoing("id", "worker:research", '{"name": "' + "x" * 1_048_576 + '"}'),
        Outgoing("id", "worker:research", '{"name": "\x00"}'),
        Outgoing("id", "worker:research", '{"name": "\ud800"}'),
        Outgoing("id", "worker:research", ""),
        message("output", "no group"),
        message("output", "bad group", "a b"),
        message("output", "long group", "g" * 129),
        Outgoing("i" * 129, "output", '{"name": "long id"}', "t1"),
        Outgoing("ä", "output", '{"name": "bad id"}', "t1"),
    ],
    ids=[
        "no queue",
        "too large",
        "NUL",
        "surrogate",
        "empty",
        "no group",
        "bad group",
        "long group",
        "long id",
        "bad id",
    ],
)
async def test_what_can_never_be_sent_is_told_apart_and_stops_nothing(
    rigs: Rigs, impossible: Outgoing
) -> None:
    async with rigs.open() as rig:
        after = [message("worker:research", "after"), message("output", "out", "t1")]
        unsent = await rig.dispatcher.send([impossible, *after])
        assert [(left.message, left.permanent) for left in unsent] == [(impossible, True)]
        assert await rig.arrived("worker:research") == ["after"]
        assert await rig.arrived("output") == ["out"]
        assert rig.clock.now() == START


async def test_sent_again_under_the_same_ids_it_arrives_once(rigs: Rigs) -> None:
    async with rigs.open() as rig:
        messages = [message("input", "wake", "t1"), message("output", "out", "t1")]
        assert await rig.dispatcher.send(messages) == ()
        assert await rig.dispatcher.send(messages) == ()
        assert await rig.arrived("input") == ["wake"]
        assert await rig.arrived("output") == ["out"]


@pytest.mark.parametrize(("due_in_seconds", "delay_seconds"), [(-5, 0), (0, 0), (100.2, 101), (900, 900)])
async def test_a_due_instant_of_at_most_900_seconds_from_now_becomes_a_whole_delay(
    rigs: Rigs, due_in_seconds: float, delay_seconds: int
) -> None:
    async with rigs.open() as rig:
        due_at = START + timedelta(seconds=due_in_seconds)
        assert await rig.dispatcher.send([message("delay", "wake", "t1", due_at=due_at)]) == ()
        assert await rig.delay_seconds("wake") == delay_seconds


async def test_large_bodies_go_in_batches_that_the_queue_takes(rigs: Rigs) -> None:
    large = [
        Outgoing(f"id{number}", "worker:research", f'{{"name": "{number}", "filler": "{"x" * 400_000}"}}')
        for number in range(5)
    ]
    async with rigs.open() as rig:
        assert await rig.dispatcher.send(large) == ()
        assert sorted(await rig.arrived("worker:research")) == ["0", "1", "2", "3", "4"]


async def test_a_correlation_id_travels_beside_the_body(rigs: Rigs) -> None:
    known = replace(message("worker:research", "known"), correlation_id="c" * 26)
    async with rigs.open() as rig:
        assert await rig.dispatcher.send([known, message("worker:research", "unknown")]) == ()
        assert await rig.beside("worker:research") == [{ATTRIBUTE: "c" * 26}, {}]


def test_a_message_that_is_full_goes_without() -> None:
    nearly = Outgoing("id", "output", "x" * (MAX_BODY_BYTES - 100), "t1", correlation_id="c" * 26)
    full = replace(nearly, body="x" * MAX_BODY_BYTES)
    assert (len(attributes_of(nearly)), attributes_of(full)) == (1, {})
