"""A stack that is updated while messages are on their way: in queues, in running functions, and live calls."""

from threading import Event

import pytest

from tests.e2e.deployed import Deployed
from tests.e2e.openai_server import Message, Request, calls, echoes, says, tool_results

THREADS = 6
NEW_MODEL = "anthropic.claude-opus-4-5-20251101-v1:0"
HELD_SECONDS = 120


@pytest.mark.usefixtures("soon_visible")
def test_messages_in_flight_survive_an_update_and_are_answered_once(deployed: Deployed) -> None:
    asked, updated = Event(), Event()

    def holds_on(request: Request) -> Message:
        """The model is being asked when the update begins, and answers when it is over."""
        asked.set()
        updated.wait(HELD_SECONDS)
        return says("All.") if tool_results(request) else calls(("list_documents", {}))

    openings = [f"Update {number}." for number in range(THREADS)]
    for opening in openings:
        deployed.model.follow(opening, holds_on)
        deployed.mailbox.say(f"update-{opening[-2]}", opening, message_id="m1")
    assert asked.wait(HELD_SECONDS)
    deployed.stack.deploy(ModelId=f"bedrock:{NEW_MODEL}")
    updated.set()
    for opening in openings:
        assert deployed.mailbox.wait_for_answers(f"update-{opening[-2]}") == ["All."]
        assert deployed.model.requests(opening)[-1]["model"] == NEW_MODEL
    deployed.model.follow(openings[0], echoes)
    deployed.mailbox.say("update-0", openings[0], message_id="m1")
    deployed.mailbox.say("update-0", "Go on.", message_id="m2")
    assert deployed.mailbox.wait_for_answers("update-0", 2) == ["All.", "To: Go on."]
