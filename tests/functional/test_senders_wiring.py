"""The sender check as it is turned on and off: by a function's environment, and off where nobody has a principal."""

import json
from collections.abc import Iterator

import boto3
import pytest

from core.ports import ParkedBody
from core.senders import Enforced
from handlers.dead_letters import handle
from infra.dynamodb import DynamoStore
from infra.local import LocalTorpor
from tests.functional.deployment import Deployment, event, minutes_ms
from tests.functional.local_app import SPEC
from tests.support.principals import AGENT, DEAD_LETTERS, RELAY, WEB, session

ROLES = {"agent": AGENT, "relay": RELAY, "dead_letters": DEAD_LETTERS, "worker:research": WEB}


@pytest.fixture
def deployment(aws_endpoint: str) -> Iterator[Deployment]:
    deployment = Deployment(aws_endpoint)
    yield deployment
    deployment.close()


def test_a_function_enforces_what_its_environment_says(deployment: Deployment) -> None:
    deployment.environ |= {
        "TORPOR_SENDER_CHECK": "enforce",
        "TORPOR_SENDERS": json.dumps(ROLES),
        "TORPOR_DEAD_LETTER_QUEUES": json.dumps({"arn:input": "input"}),
    }
    container = deployment.dead_letters()
    assert container.agent.senders == Enforced(AGENT, RELAY, DEAD_LETTERS, workers={"research": WEB})
    happening = event("from/user", arn="arn:input")
    happening["Records"][0]["attributes"]["SenderId"] = session(WEB)
    assert handle(happening, container, minutes_ms) == {"batchItemFailures": []}
    store = container.agent.ports.store
    assert isinstance(store, DynamoStore)
    parked: tuple[ParkedBody, ...] = container.agent.loop.run(store.parked())
    assert [(body.message_id, body.reason.partition(":")[0]) for body in parked] == [("m1", "forbidden")]


def test_the_emulator_gives_every_sender_the_same_id(aws_endpoint: str) -> None:
    senders = set()
    for person in ("alice", "bob"):
        sqs = boto3.client(
            "sqs",
            endpoint_url=aws_endpoint,
            region_name="us-east-1",
            aws_access_key_id=person,
            aws_secret_access_key=person,
        )
        url = sqs.create_queue(QueueName=f"from-{person}")["QueueUrl"]
        sqs.send_message(QueueUrl=url, MessageBody="hello")
        (message,) = sqs.receive_message(QueueUrl=url, AttributeNames=["SenderId"])["Messages"]
        senders.add(message["Attributes"]["SenderId"])
        sqs.close()
    assert len(senders) == 1


def test_so_the_local_stack_checks_nothing() -> None:
    with LocalTorpor(app=SPEC) as local:
        local.send({"type": "user_message", "thread_id": "t1", "content": "hello"}, sender=session(WEB))
        local.drain()
        assert local.outputs("t1")[-1]["text"] == "You said: hello"
        assert local.parked() == []
