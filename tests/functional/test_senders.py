"""The sender check through the handlers, by event JSON of every kind of principal that SQS stamps on a message."""

import json
import logging
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from core import tool
from core.senders import FIRST_SENDER, Enforced
from core.thread import LiveCall
from core.worker import Answering
from handlers import agent as agent_function
from handlers import dead_letters
from handlers.agent_container import AgentContainer, DeadLetterContainer
from handlers.bootstrap import EventLoop, TimeLeft
from handlers.clients import AsyncClients, AwsAccess
from infra.memory import MemoryClock, MemoryStore
from infra.memory.dispatcher import MemorySender
from infra.memory.queues import MemoryQueues
from infra.sqs.visibility import RecordVisibility
from infra.work.memory import MemoryWorkRecords
from tests.architecture.sources import ROOT
from tests.functional.deployment import EVENTS, event
from tests.support.played import Turn, calls, says
from tests.support.principals import AGENT, ALICE, DEAD_LETTERS, MAIL, OPERATOR, POLICY, RELAY, WEB, WEBHOOK
from tests.support.principals import session as of
from tests.support.world import START, TOOLS, World, agent, world

PRINCIPALS = (
    "user",
    "assumed_role",
    "function_role",
    "instance_role",
    "federated_user",
    "account_root",
    "service",
)


@tool(worker="mail")
def post(letter: str) -> str:
    """Post a letter."""
    return letter


APP = agent(tools=[*TOOLS, post])
TWO_CALLS = calls(("fetch", {"url": "u"}), ("post", {"letter": "l"}))


class Unasked:
    """Of a batch in which nothing failed."""

    async def change_message_visibility_batch(self, *, QueueUrl: str, Entries: Sequence[Any]) -> Any:
        raise AssertionError(f"{len(Entries)} records of {QueueUrl} failed")


@dataclass
class Stage:
    """The agent's and the dead-letter function over in-memory ports, with the check on."""

    world: World
    store: MemoryStore
    container: AgentContainer
    sent: int = 0

    async def hears(
        self, sender: str | None, kind: str, dead: bool = False, sent_for: str | None = None, **body: Any
    ) -> str:
        """One message of this sender, as an event; what it came to: `taken`, or the code it was refused with."""
        self.sent += 1
        body = {"message_id": f"m{self.sent}", "thread_id": "t1", "content": "go", **body}
        happening = event("from/user", type=kind, **body)
        if sent_for is not None:
            said = {FIRST_SENDER: {"stringValue": sent_for, "dataType": "String"}}
            happening["Records"][0]["messageAttributes"] = said
        return await self.hears_event(happening, sender, dead=dead)

    async def hears_event(self, happening: dict[str, Any], *sender: str | None, dead: bool = False) -> str:
        """The same for an event of any file, from its own sender unless another is given."""
        (record,) = happening["Records"]
        record["attributes"]["MessageGroupId"] = json.loads(record["body"])["thread_id"]
        for principal in sender:
            record["attributes"]["SenderId"] = principal
        before = await self.parked()
        happening = {"Records": [record]}
        if dead:
            response = await dead_letters.handle_event(happening, self._dead(record["eventSourceARN"]))
        else:
            response = await agent_function.handle_event(happening, self.container)
        assert response == {"batchItemFailures": []}
        return "".join((await self.parked()) - before) or "taken"

    async def parked(self) -> Counter[str]:
        """How many bodies are parked, by code."""
        return Counter(body.reason.partition(": ")[0] for body in await self.store.parked())

    async def live(self) -> dict[str, LiveCall]:
        """By tool."""
        return {call.name: call for call in (await self.world.state()).live}

    def _dead(self, arn: str) -> DeadLetterContainer:
        sender = MemorySender(MemoryQueues(self.world.clock), self.world.clock)
        answering = Answering(MemoryWorkRecords(), sender, self.world.clock)
        return DeadLetterContainer({arn: "input"}, answering, self.container, ())


def stage(*turns: Turn, policy: Enforced = POLICY) -> Stage:
    store = MemoryStore(MemoryClock(START))
    on = world(*turns, store=store, app=APP)
    visibility = RecordVisibility(Unasked(), "url")
    container = AgentContainer(
        on.app, on.ports, visibility, EventLoop(), AsyncClients(AwsAccess()), TimeLeft(), senders=policy
    )
    return Stage(on, store, container)


async def calling(policy: Enforced = POLICY) -> tuple[Stage, str, str]:
    """A thread with a live call on each of two workers; their ids."""
    on = stage(TWO_CALLS, says("done"), policy=policy)
    assert await on.hears(ALICE, "user_message") == "taken"
    live = await on.live()
    return on, live["fetch"].call_id, live["post"].call_id


@pytest.mark.parametrize("principal", PRINCIPALS)
async def test_every_kind_of_principal_that_the_queue_lets_in_speaks_for_users(principal: str) -> None:
    on = stage(says("hello"))
    assert await on.hears_event(event(f"from/{principal}")) == "taken"
    assert [output["text"] for output in on.world.dispatcher.outputs] == ["hello"]


@pytest.mark.parametrize("principal", PRINCIPALS)
@pytest.mark.parametrize("named", PRINCIPALS)
async def test_each_kind_of_principal_can_be_named_and_no_other_is_meant(named: str, principal: str) -> None:
    sender = event(f"from/{named}")["Records"][0]["attributes"]["SenderId"]
    unique_id = sender if sender[:1].isdigit() else sender.partition(":")[0]
    on = stage(says("hello"), policy=replace(POLICY, user_senders=(unique_id,)))
    assert await on.hears_event(event(f"from/{principal}")) == (
        "taken" if principal == named else "forbidden"
    )


@pytest.mark.parametrize("kind", ["user_message", "cancel", "close"])
@pytest.mark.parametrize("tools", [WEB, MAIL, WEBHOOK])
async def test_a_tool_that_speaks_for_a_user_is_refused_parked_told_and_counted(
    tools: str, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    on, _, _ = await calling()
    before = await on.world.lines()
    with caplog.at_level(logging.ERROR):
        assert await on.hears(of(tools), kind, metadata={"user_id": "mallory"}) == "forbidden"
    assert await on.world.lines() == before
    assert len(await on.live()) == 2
    manager = await on.world.manager()
    assert manager.metadata == {}
    (told,) = on.world.dispatcher.of_type("error")
    assert (told["code"], told["message_id"], told["retryable"]) == ("forbidden", "m2", False)
    counted = [vars(line) for line in caplog.records if vars(line).get("action") == "forbidden"]
    assert [(one["sender"], one["message_type"]) for one in counted] == [(of(tools), kind)]


async def test_a_forbidden_first_message_starts_no_thread() -> None:
    on = stage()
    assert await on.hears(of(WEB), "user_message") == "forbidden"
    assert not (await on.world.state()).exists


async def test_a_worker_answers_its_own_calls_and_no_others() -> None:
    on, fetch, letter = await calling()
    for kind in ("tool_result", "subscription_event"):
        assert await on.hears(of(MAIL), kind, call_id=fetch) == "forbidden"
        assert await on.hears(of(WEB), kind, call_id=letter) == "forbidden"
        assert await on.hears(ALICE, kind, call_id=fetch) == "forbidden"
        assert await on.hears(of(AGENT), kind, call_id=fetch) == "forbidden"
    assert set(await on.live()) == {"fetch", "post"}
    assert await on.hears(of(WEB), "tool_result", call_id=fetch, content="page") == "taken"
    assert await on.hears(of(MAIL), "tool_result", call_id=letter, content="sent") == "taken"
    assert (await on.world.lines())[-3:] == ["Result(fetch, page)", "Result(post, sent)", "Asst(done)"]


@pytest.mark.parametrize("principal", ["user", "federated_user", "service", "function_role"])
async def test_a_tool_from_elsewhere_of_any_kind_answers_any_call(principal: str) -> None:
    sender = event(f"from/{principal}")["Records"][0]["attributes"]["SenderId"]
    on, fetch, letter = await calling(replace(POLICY, user_senders=(ALICE,), tool_senders=(sender,)))
    for call_id in (fetch, letter):
        assert await on.hears(sender, "tool_result", call_id=call_id) == "taken"
    assert await on.live() == {}


async def test_the_dead_letter_function_answers_dead_calls_and_the_operator_anything() -> None:
    on, fetch, letter = await calling()
    assert await on.hears(of(DEAD_LETTERS), "tool_result", call_id=fetch, is_error=True) == "taken"
    assert await on.hears(of(OPERATOR, "alice"), "tool_result", call_id=letter) == "taken"
    on.world.model.play(says("again"))
    assert await on.hears(of(OPERATOR, "alice"), "user_message") == "taken"
    assert await on.hears(of(OPERATOR, "alice"), "wake", message_id="old") == "taken"


async def test_what_the_operator_sends_again_is_its_first_senders_word() -> None:
    on, fetch, letter = await calling()
    operator = of(OPERATOR, "alice")
    for dead in (False, True):
        forged: dict[str, Any] = {"call_id": letter, "sent_for": of(WEB), "dead": dead}
        assert await on.hears(operator, "tool_result", **forged) == "forbidden"
        assert (
            await on.hears(operator, "user_message", **forged, metadata={"user_id": "mallory"}) == "forbidden"
        )
    assert set(await on.live()) == {"fetch", "post"}
    kept = [body.sender for body in await on.store.parked()]
    assert kept == [of(WEB)] * 4
    assert await on.hears(operator, "tool_result", call_id=fetch, sent_for=of(WEB)) == "taken"
    assert await on.hears(operator, "wake", message_id="old", sent_for=of(AGENT)) == "taken"
    assert await on.hears(operator, "tool_result", call_id=letter) == "taken"


async def test_nobody_but_the_operator_speaks_for_others() -> None:
    on, fetch, _ = await calling()
    assert await on.hears(of(MAIL), "tool_result", call_id=fetch, sent_for=of(WEB)) == "forbidden"
    assert await on.hears(of(MAIL), "user_message", sent_for=ALICE) == "forbidden"
    assert await on.hears(ALICE, "wake", sent_for=of(AGENT)) == "forbidden"
    assert {body.sender for body in await on.store.parked()} == {of(MAIL), ALICE}


async def test_events_of_a_subscription_come_from_its_calls_worker() -> None:
    on, fetch, letter = await calling()
    assert await on.hears(of(WEB), "tool_result", call_id=fetch, subscription=True) == "taken"
    assert await on.hears(of(MAIL), "tool_result", call_id=letter) == "taken"
    assert await on.hears(of(MAIL), "subscription_event", call_id=fetch) == "forbidden"
    assert await on.hears(of(WEB), "subscription_event", call_id=fetch) != "forbidden"
    assert await on.hears(of(WEBHOOK), "subscription_event", call_id=fetch) != "forbidden"


async def test_a_late_result_of_a_worker_is_no_offence_and_that_of_a_stranger_is_one() -> None:
    on, fetch, letter = await calling()
    assert await on.hears(ALICE, "cancel") == "taken"
    assert await on.hears(of(WEB), "tool_result", call_id=fetch) == "taken"
    assert await on.hears(of(WEB), "tool_result", call_id=letter) == "taken"
    assert await on.hears(ALICE, "tool_result", call_id=fetch) == "forbidden"


@pytest.mark.parametrize("kind", ["wake", "timer"])
async def test_internal_messages_come_only_from_torpors_own_roles(kind: str) -> None:
    on = stage()
    body: dict[str, Any] = {"due_at": "2025-01-01T00:00:00Z"}
    for sender in (ALICE, of(WEB), of(WEBHOOK), "123456789012", None):
        assert await on.hears(sender, kind, **body) == "forbidden"
    for role in (AGENT, RELAY, DEAD_LETTERS, OPERATOR):
        assert await on.hears(of(role), kind, **body) == "taken"


@pytest.mark.parametrize("nobody", [None, ""])
@pytest.mark.parametrize("kind", ["user_message", "tool_result", "wake"])
async def test_a_message_that_names_no_sender_is_refused(kind: str, nobody: str | None) -> None:
    assert await stage().hears(nobody, kind, call_id="call_1") == "forbidden"
    missing = event("from/user")
    del missing["Records"][0]["attributes"]["SenderId"]
    assert await stage().hears_event(missing) == "forbidden"


async def test_a_dead_letter_is_checked_by_the_sender_it_had() -> None:
    on, fetch, _ = await calling()
    assert await on.hears(of(MAIL), "tool_result", call_id=fetch, dead=True) == "forbidden"
    assert await on.hears(of(WEB), "user_message", dead=True) == "forbidden"
    assert set(await on.live()) == {"fetch", "post"}
    assert await on.hears(of(WEB), "tool_result", call_id=fetch, dead=True) == "taken"
    assert await on.hears(ALICE, "user_message", dead=True) == "taken"
    assert list(await on.live()) == ["post"]


async def test_metadata_is_taken_only_from_whoever_speaks_for_users() -> None:
    on, fetch, letter = await calling()
    mallory = {"user_id": "mallory"}
    assert await on.hears(of(WEB), "tool_result", call_id=fetch, metadata=mallory) == "taken"
    assert await on.hears(of(WEBHOOK), "tool_result", call_id=letter, metadata=mallory) == "taken"
    assert (await on.world.manager()).metadata == {}
    on.world.model.play(says("hello"))
    assert await on.hears(ALICE, "user_message", metadata={"user_id": "alice"}) == "taken"
    assert (await on.world.manager()).metadata == {"user_id": "alice"}


def test_every_kind_of_principal_is_documented() -> None:
    documented = re.findall(r"`from/(\w+)\.json`", (ROOT / "docs" / "security.md").read_text("utf-8"))
    assert set(documented) == set(PRINCIPALS) == {path.stem for path in (EVENTS / "from").iterdir()}
