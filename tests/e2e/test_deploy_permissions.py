"""What the functions' roles refuse, asked from inside them with permission enforcement on."""

from typing import Any

import pytest

from tests.e2e.deployed import Deployed
from tests.e2e.openai_server import calls, says, tool_results

Attempt = tuple[str, str, dict[str, Any]]
ALLOWED = "allowed"
pytestmark = pytest.mark.parametrize("deployed", ["enforced"], indirect=True)


def outcomes(deployed: Deployed, thread_id: str, tool: str, attempts: list[Attempt]) -> list[str]:
    """How each attempt ends, made in parallel by a tool of `tests/e2e/app.py`."""
    arguments = [
        {"service": one, "operation": operation, "arguments": given} for one, operation, given in attempts
    ]
    deployed.model.play(f"Try, {thread_id}.", calls(*((tool, each) for each in arguments)), says("Tried."))
    deployed.mailbox.say(thread_id, f"Try, {thread_id}.")
    deployed.mailbox.wait_for_answers(thread_id)
    return tool_results(deployed.model.requests(f"Try, {thread_id}.")[-1])


def conversation_item(deployed: Deployed) -> dict[str, Any]:
    key = {"pk": {"S": "T#somebody"}, "sk": {"S": "TIP"}}
    return {"TableName": deployed.stack.output("TableName"), "Key": key}


def work_item(deployed: Deployed) -> dict[str, Any]:
    return {"TableName": deployed.stack.output("WorkTableName"), "Key": {"pk": {"S": "library#somebody"}}}


def queue(deployed: Deployed, logical_id: str) -> dict[str, Any]:
    return {"QueueUrl": deployed.stack.resource(logical_id)}


def payload(deployed: Deployed) -> dict[str, Any]:
    return {"Bucket": deployed.stack.output("PayloadBucketName"), "Key": "payloads/somebody"}


def test_a_worker_has_its_queue_and_its_records_and_nothing_of_the_conversation(deployed: Deployed) -> None:
    of_its_own: list[Attempt] = [
        ("dynamodb", "get_item", work_item(deployed)),
        ("sqs", "get_queue_attributes", queue(deployed, "LibraryQueue")),
    ]
    of_others: list[Attempt] = [
        ("dynamodb", "get_item", conversation_item(deployed)),
        ("dynamodb", "scan", {"TableName": deployed.stack.output("TableName")}),
        ("sqs", "receive_message", queue(deployed, "WritingQueue")),
        ("sqs", "send_message", queue(deployed, "WritingQueue") | {"MessageBody": "{}"}),
        ("sqs", "receive_message", queue(deployed, "InputQueue")),
        ("sqs", "receive_message", queue(deployed, "OutputQueue")),
        ("s3", "get_object", payload(deployed)),
        ("sts", "assume_role", {"RoleArn": agent_role(deployed), "RoleSessionName": "worker"}),
    ]
    ended = outcomes(deployed, "worker", "attempt_in_worker", of_its_own + of_others)
    assert ended[: len(of_its_own)] == [ALLOWED] * len(of_its_own)
    assert [one.partition("Exception")[0] for one in ended[len(of_its_own) :]] == ["AccessDenied"] * len(
        of_others
    )


def test_the_agent_has_the_conversation_and_neither_workers_records_nor_their_queues(
    deployed: Deployed,
) -> None:
    of_its_own: list[Attempt] = [("dynamodb", "get_item", conversation_item(deployed))]
    of_others: list[Attempt] = [
        ("dynamodb", "get_item", work_item(deployed)),
        ("dynamodb", "scan", {"TableName": deployed.stack.output("TableName")}),
        ("sqs", "receive_message", queue(deployed, "LibraryQueue")),
        ("sqs", "receive_message", queue(deployed, "OutputQueue")),
        ("s3", "delete_object", payload(deployed)),
    ]
    ended = outcomes(deployed, "agent", "attempt_in_agent", of_its_own + of_others)
    assert ended[:1] == [ALLOWED]
    assert [one.partition("Exception")[0] for one in ended[1:]] == ["AccessDenied"] * len(of_others)


def agent_role(deployed: Deployed) -> str:
    role = deployed.stack.client("iam").get_role(RoleName=deployed.stack.resource("AgentRole"))
    return str(role["Role"]["Arn"])


def test_the_emulator_names_no_principal_so_the_sender_check_is_off(deployed: Deployed) -> None:
    """What the agent's role sent and what the root user sends: both are the account's."""
    deployed.model.play("Who are you?", says("The agent."))
    deployed.mailbox.say("sender", "Who are you?")
    deployed.mailbox.wait_for_answers("sender")
    sqs = deployed.stack.client("sqs")
    url = sqs.create_queue(QueueName="from-root")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="hello")
    (message,) = sqs.receive_message(QueueUrl=url, AttributeNames=["SenderId"])["Messages"]
    sqs.delete_queue(QueueUrl=url)
    account = deployed.stack.client("sts").get_caller_identity()["Account"]
    assert {deployed.mailbox.senders["sender"], message["Attributes"]["SenderId"]} == {account}
    assert deployed.stack.parameters["SenderCheck"] == "off"
