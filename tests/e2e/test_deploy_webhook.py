"""Replies where people are: with `WebhookUrl` the stack posts its outputs itself, each once and in order."""

from collections.abc import Iterator

import pytest

from tests.e2e.deployed import Deployed
from tests.e2e.openai_server import calls, says
from tests.e2e.receiver import Receiver, receiving

POSTED_SECONDS = 90.0
pytestmark = pytest.mark.parametrize("deployed", ["enforced"], indirect=True)


@pytest.fixture
def receiver(deployed: Deployed) -> Iterator[Receiver]:
    """The consumer of the output queue while it is there."""
    with receiving() as webhook:
        deployed.stack.deploy(WebhookUrl=webhook.url)
        yield webhook
        deployed.stack.deploy(WebhookUrl="")


def test_outputs_are_posted_once_in_order_with_their_ids(deployed: Deployed, receiver: Receiver) -> None:
    deployed.model.play("Post it.", calls(("list_documents", {}), text="I look."), says("Posted."))
    for _ in range(2):
        deployed.mailbox.say("posted", "Post it.", message_id="m1")
    assert receiver.wait_for_final("posted", POSTED_SECONDS), deployed.mailbox.why()
    assert [(post["type"], post.get("text")) for post in receiver.posts] == [
        ("assistant_message", "I look."),
        ("tool_started", None),
        ("assistant_message", "Posted."),
    ]
    assert receiver.keys == [post["output_id"] for post in receiver.posts]
