"""What only SQS can do to a dispatcher: batches, lost answers, errors by code; and the synchronous sender's share."""

from collections.abc import Sequence
from typing import Any

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError, ReadTimeoutError

from infra.queue_errors import QueueUnavailable, Unsendable
from infra.sqs.limits import MAX_BATCH_BYTES
from infra.sqs.sync_sender import SqsSender
from tests.contract.dispatchers import SqsRigs, message
from tests.contract.watched import Watched, fails, loses_the_answer, refused

TIMEOUT = ReadTimeoutError(endpoint_url="http://sqs")


@pytest.fixture
def rigs(aws_endpoint: str) -> SqsRigs:
    return SqsRigs(aws_endpoint)


async def test_one_request_per_queue_and_ten_messages(rigs: SqsRigs) -> None:
    async with rigs.open() as rig:
        calls = [message("worker:research", f"call{number}") for number in range(12)]
        await rig.dispatcher.send([*calls, message("input", "wake", "t1"), message("output", "out", "t1")])
        assert sorted(len(entries) for entries in rig.client.requests) == [1, 1, 2, 10]


async def test_no_batch_is_over_its_limit_together(rigs: SqsRigs) -> None:
    async with rigs.open() as rig:
        calls = [message("worker:research", "x" * 300_000 + str(number)) for number in range(7)]
        assert await rig.dispatcher.send(calls) == ()
        sizes = [sum(len(entry["MessageBody"]) for entry in entries) for entries in rig.client.requests]
        assert len(sizes) == 3
        assert max(sizes) <= MAX_BATCH_BYTES


@pytest.mark.parametrize("failure", [TIMEOUT, EndpointConnectionError(endpoint_url="http://sqs"), OSError()])
async def test_a_send_of_unknown_outcome_is_sent_again_and_arrives_once(
    rigs: SqsRigs, failure: Exception
) -> None:
    async with rigs.open() as rig:
        watched = Watched(rig.sqs)
        watched.next_time("send_message_batch", loses_the_answer(failure), fails(failure))
        dispatcher = rig.dispatcher_over(watched)
        assert await dispatcher.send([message("output", "out", "t1")]) == ()
        entries: Sequence[Any] = [call.request["Entries"] for call in watched.calls]
        assert len(entries) == 3
        assert entries[0] == entries[1] == entries[2]
        assert await rig.arrived("output") == ["out"]


@pytest.mark.parametrize(
    ("code", "permanent"),
    [
        ("AWS.SimpleQueueService.NonExistentQueue", True),
        ("AccessDenied", True),
        ("RequestThrottled", False),
        ("InternalError", False),
        ("ExpiredToken", False),
        ("SomethingNew", False),
    ],
)
async def test_a_code_says_whether_it_can_ever_be_sent(rigs: SqsRigs, code: str, permanent: bool) -> None:
    async with rigs.open() as rig:
        watched = Watched(rig.sqs)
        watched.next_time("send_message_batch", *[fails(refused(code))] * 20)
        dispatcher = rig.dispatcher_over(watched, patience=4.0)
        (unsent,) = await dispatcher.send([message("worker:research", "call")])
        assert unsent.permanent is permanent
        assert (len(watched.calls) == 1) is permanent


async def test_a_queue_that_is_not_there_is_permanent(rigs: SqsRigs) -> None:
    async with rigs.open() as rig:
        rig.urls["worker:research"] += "-gone"
        (unsent,) = await rig.dispatcher.send([message("worker:research", "call")])
        assert unsent.permanent


class _Raising:
    def __init__(self, failure: Exception) -> None:
        self._failure = failure

    def send_message(self, **parameters: Any) -> Any:
        raise self._failure


async def test_the_synchronous_sender_sends_the_same_and_raises_by_code(
    aws_endpoint: str, rigs: SqsRigs
) -> None:
    async with rigs.open() as rig:
        client = boto3.client(
            "sqs",
            endpoint_url=aws_endpoint,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        sender = SqsSender(client, rig.urls, rig.clock)
        sender.send(message("input", "wake", "t1"))
        assert await rig.dispatcher.send([message("input", "wake", "t1")]) == ()
        assert await rig.arrived("input") == ["wake"]
        for impossible in (message("input", "no group"), message("worker:gone", "call")):
            with pytest.raises(Unsendable):
                sender.send(impossible)
        client.close()
        failures: dict[Exception, type[Exception]] = {
            refused("AccessDenied"): Unsendable,
            refused("RequestThrottled"): QueueUnavailable,
            TIMEOUT: QueueUnavailable,
        }
        for failure, raised in failures.items():
            with pytest.raises(raised):
                SqsSender(_Raising(failure), rig.urls, rig.clock).send(message("input", "wake", "t1"))
