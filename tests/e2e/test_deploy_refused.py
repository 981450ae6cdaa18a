"""What the deployed agent cannot read is parked with a reason, and the thread it came for goes on."""

import json
from typing import Any

import pytest

from tests.e2e.deployed import Deployed
from tests.e2e.openai_server import says


def parked(deployed: Deployed) -> list[dict[str, Any]]:
    """The records of parked bodies, oldest first."""
    found = deployed.stack.client("dynamodb").query(
        TableName=deployed.stack.output("TableName"),
        KeyConditionExpression="pk = :pk AND sk BETWEEN :from AND :to",
        ExpressionAttributeValues={":pk": {"S": "PARKED"}, ":from": {"S": "0"}, ":to": {"S": "9~"}},
    )
    return [json.loads(item["j"]["S"]) for item in found["Items"]]


@pytest.mark.parametrize(
    ("thread_id", "body"),
    [
        ("not-json", "{not JSON"),
        ("unknown-type", '{"type": "unheard_of", "thread_id": "unknown-type"}'),
        ("other-group", '{"type": "user_message", "thread_id": "somebody-else", "content": "Hello."}'),
    ],
)
def test_a_body_that_cannot_be_read_is_parked_and_its_group_goes_on(
    deployed: Deployed, thread_id: str, body: str
) -> None:
    opening = f"Hello from {thread_id}."
    deployed.model.play(opening, says("Hello."))
    deployed.mailbox.send(body, group=thread_id)
    deployed.mailbox.say(thread_id, opening)
    assert deployed.mailbox.wait_for_answers(thread_id) == ["Hello."]
    (record,) = [record for record in parked(deployed) if record["body"] == body]
    assert (record["source"], bool(record["reason"])) == ("input", True)
