"""The client over the local stack: sent to its queue, read from its table; whoever waits lets the stack run."""

from collections.abc import Iterator
from contextlib import aclosing
from datetime import UTC, datetime

import pytest

from core.entries import entry_dict
from core.errors import Refused, SettingsError
from infra.client import AgentClient, Answered, NotAccepted, NotAnswered, SyncAgentClient, Waiting, run_chat
from infra.local import LocalTorpor
from tests.functional.waiting_app import SPEC

START = datetime(2026, 1, 2, tzinfo=UTC)
HOUR_SECONDS = 3_600


@pytest.fixture(scope="module")
def local() -> Iterator[LocalTorpor]:
    """One stack for all; each test has threads of its own."""
    with LocalTorpor(app=SPEC, start=START) as stack:
        yield stack


@pytest.fixture(scope="module")
def client(local: LocalTorpor) -> Iterator[SyncAgentClient]:
    """Closed with the stack."""
    with SyncAgentClient.local(local) as opened:
        yield opened


def test_a_question_is_answered(client: SyncAgentClient, local: LocalTorpor) -> None:
    chat = run_chat(client, "chat", "hello", 10)
    assert chat == {"thread_id": "chat", "route": None, "answer": "You said: hello", "citations": []}
    (output,) = local.outputs("chat")
    assert output["text"] == chat["answer"], "the client leaves outputs to their consumer"


def test_what_was_sent_twice_is_answered_once(client: SyncAgentClient, local: LocalTorpor) -> None:
    for _ in range(2):
        assert client.send("twice", "hello", "m1") == "m1"
    outcome = client.wait("twice", "m1", 10)
    local.drain()
    assert isinstance(outcome, Answered)
    assert [entry["kind"] for entry in local.history("twice")] == ["user", "assistant"]


def test_a_question_to_a_person_is_told_and_the_answer_found_by_another_client(
    client: SyncAgentClient, local: LocalTorpor
) -> None:
    message_id = client.send("paying", "pay 5")
    outcome = client.wait("paying", message_id, HOUR_SECONDS)
    assert isinstance(outcome, Waiting)
    (asked,) = outcome.awaits
    told = next(output for output in local.outputs("paying") if output["type"] == "question")
    assert asked.to_json()["args"] == told["args"] == {"amount": 5}
    local.send({"type": "answer", "thread_id": "paying", "call_id": told["call_id"], "approved": True})
    answered = client.wait("paying", message_id, HOUR_SECONDS)
    assert isinstance(answered, Answered)
    assert answered.text == "Bank: paid 5"
    with SyncAgentClient.local(local) as another:
        assert another.wait("paying", message_id, 0) == answered


def test_a_sleep_is_waited_for_if_there_is_time(client: SyncAgentClient, local: LocalTorpor) -> None:
    with pytest.raises(NotAnswered, match="waits for the end of sleep"):
        run_chat(client, "asleep", "nap", 60)
    (turn,) = client.turns("asleep")
    assert (turn.open, turn.remarks) == (True, ("Good night.",))
    message_id = turn.said[0].message_id
    assert message_id is not None
    answered = client.wait("asleep", message_id, HOUR_SECONDS)
    assert isinstance(answered, Answered)
    assert answered.text.startswith("Awake: ")
    assert (local.clock.now() - START).total_seconds() < 3 * HOUR_SECONDS


def test_a_refusal_is_told(client: SyncAgentClient) -> None:
    with pytest.raises(Refused):
        client.send("a b", "hello")
    outcome = client.wait("refused", client.send("refused", "hello", agent="nobody"), HOUR_SECONDS)
    assert isinstance(outcome, NotAccepted)
    assert outcome.code == "invalid"


async def test_the_asynchronous_client_follows_what_another_says(local: LocalTorpor) -> None:
    async with AgentClient.local(local) as client:
        await run_chat(client, "followed", "hello", 10)
        seen: list[dict[str, object]] = []
        async with aclosing(client.follow("followed")) as entries:
            async for entry in entries:
                seen.append(entry_dict(entry))
                if len(seen) == 2:
                    await client.send("followed", "and?")
                if len(seen) == 4:
                    break
        assert seen == local.history("followed")
        async with aclosing(client.follow("followed", 3)) as entries:
            assert (await anext(entries)).seq == 4
        assert [turn.answer async for turn in client.turns("followed")] == [
            "You said: hello",
            "You said: and?",
        ]
        assert (await client.tree("followed")).status == "idle"


async def test_two_may_wait_at_the_same_time(local: LocalTorpor) -> None:
    async with AgentClient.local(local) as client:
        chats = [await client.send(f"many-{number}", f"number {number}") for number in range(3)]
        outcomes = [await client.wait(f"many-{number}", chat, 10) for number, chat in enumerate(chats)]
        assert [outcome.kind for outcome in outcomes] == ["answered"] * 3


def test_a_stack_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SettingsError, match="no region"), SyncAgentClient.of_stack("nowhere"):
        pass
