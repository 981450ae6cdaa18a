"""The deployed system talked to by `AgentClient`: found by its stack's name, sent to its queue, read from its table."""

import json
from collections.abc import Iterator

import pytest

from core.entries import entry_dict
from infra.client import Answered, AwaitedAnswer, NotAnswered, SyncAgentClient, Waiting, run_chat
from tests.e2e.deployed import Deployed
from tests.e2e.openai_server import calls, echoes, says
from tests.e2e.processes import REGION

PATIENCE_SECONDS = 90.0


@pytest.fixture
def client(deployed: Deployed, monkeypatch: pytest.MonkeyPatch) -> Iterator[SyncAgentClient]:
    """As a program on a person's machine has it: endpoint and credentials are those of the environment."""
    there = {"AWS_ENDPOINT_URL": deployed.stack.endpoint_url, "AWS_REGION": REGION}
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    for name, value in (there | keys).items():
        monkeypatch.setenv(name, value)
    with SyncAgentClient.of_stack(deployed.stack.name, REGION) as opened:
        yield opened


def test_a_program_asks_and_reads_on(deployed: Deployed, client: SyncAgentClient) -> None:
    deployed.model.play(
        "Look for the client.",
        calls(("search_documents", {"query": "neap tides"}), text="I look."),
        says("I looked."),
        echoes,
    )
    chat = run_chat(client, "client", "Look for the client.", PATIENCE_SECONDS)
    assert (chat["thread_id"], chat["route"], chat["answer"]) == ("client", None, "I looked.")
    for _ in range(2):
        client.send("client", "And twice?", "m2")
    answered = client.wait("client", "m2", PATIENCE_SECONDS)
    assert isinstance(answered, Answered)
    assert answered.text == "To: And twice?"
    first, second = client.turns("client")
    assert (first.remarks, first.answer, second.answer) == (("I look.",), "I looked.", "To: And twice?")
    assert [call.outcome for call in first.calls] == ["ok"]
    followed = client.follow("client", first.last_seq)
    seen = [entry_dict(next(followed)) for _ in range(2)]
    assert [(entry["seq"], entry["kind"]) for entry in seen] == [
        (first.last_seq + 1, "user"),
        (first.last_seq + 2, "assistant"),
    ]
    assert client.tree("client").status == "idle"
    outputs = deployed.mailbox.wait_for_answers("client", 2)
    assert outputs == [chat["answer"], answered.text], "the client leaves outputs to their consumer"


def test_what_a_thread_waits_for_is_told(deployed: Deployed, client: SyncAgentClient) -> None:
    deployed.model.play("Sign for the client.", calls(("sign", {"paper": "a will"})), says("Left unsigned."))
    with pytest.raises(NotAnswered) as raised:
        run_chat(client, "client-asks", "Sign for the client.", PATIENCE_SECONDS)
    outcome = raised.value.outcome
    assert isinstance(outcome, Waiting)
    (asked,) = outcome.awaits
    assert isinstance(asked, AwaitedAnswer)
    assert (asked.name, asked.question, asked.args) == ("sign", "approval", {"paper": "a will"})
    body = {"type": "answer", "thread_id": "client-asks", "call_id": asked.call_id, "approved": False}
    deployed.mailbox.send(json.dumps(body), "client-asks")
    answered = client.wait("client-asks", outcome.message_id, PATIENCE_SECONDS)
    assert isinstance(answered, Answered)
    assert answered.text == "Left unsigned."
