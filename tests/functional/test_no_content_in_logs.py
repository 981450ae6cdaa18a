"""No content gets into a log line, a metric or a trace, whatever is said and whatever goes wrong."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from handlers.agent_container import AgentContainer
from infra.local import LocalTorpor
from tests.functional.secret_app import SECRET, SPEC
from tests.support.listening import Kept, listening

DOOMED = "doomed"
"""A thread that the agent's store cannot load."""
BODIES = {
    "no JSON": f"{SECRET} {{",
    "an unknown type": json.dumps({"type": SECRET, "thread_id": "odd", SECRET: SECRET}),
    "a wrong field": json.dumps({"type": "user_message", "thread_id": "odd", "content": {SECRET: SECRET}}),
}


class Cracked:
    """A store that raises, with content in its words, for one thread."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def load(self, thread_id: str, keys: Any = ()) -> Any:
        if thread_id == DOOMED:
            raise ValueError(f"{SECRET} in {keys}")
        return await self._store.load(thread_id, keys)


@contextmanager
def secretive() -> Iterator[tuple[LocalTorpor, Kept]]:
    """A stack, and everything that its functions write."""
    traces = Kept()

    def wrapped(function: str, container: Any) -> Any:
        if not isinstance(container, AgentContainer):
            return container
        telemetry = replace(container.telemetry, trace=traces)
        ports = replace(container.ports, store=Cracked(container.ports.store))
        return replace(container, telemetry=telemetry, ports=ports)

    with LocalTorpor(app=SPEC, wrap_ports=wrapped) as local, listening() as kept:
        kept.traces = traces.traces
        yield local, kept


def _say(local: LocalTorpor, text: str, thread_id: str = "t1", **fields: Any) -> None:
    body = {"type": "user_message", "thread_id": thread_id, "content": f"{text} {SECRET}", **fields}
    local.send(body)
    local.drain()


def _tell(local: LocalTorpor, kind: str, thread_id: str = "t1", **fields: Any) -> None:
    local.send({"type": kind, "thread_id": thread_id, **fields})
    local.drain()


def _calls(local: LocalTorpor) -> dict[str, str]:
    """Call ids of the root's newest calls, by name."""
    return {e["name"]: e["call_id"] for e in local.history("t1") if e["kind"] == "tool_call"}


def _converse(local: LocalTorpor) -> None:
    """Tools that run, fail and ask here and there; events, approvals, children, compactions, interruptions."""
    document = {"type": "document", "media_type": "text/plain", "name": SECRET}
    document["data"] = base64.b64encode(SECRET.encode()).decode()
    content = [{"type": "text", "text": f"here {SECRET}"}, document]
    _tell(local, "user_message", content=content, metadata={"user_id": SECRET, SECRET: [SECRET]})
    _say(local, "there", message_id="m2")
    calls = _calls(local)
    _tell(local, "answer", call_id=calls["ask"], choice=SECRET, comment=SECRET)
    _tell(local, "answer", call_id=calls["pay"], approved=True, args={"text": f"2 {SECRET}s"}, comment=SECRET)
    for final in (False, True):
        _tell(local, "subscription_event", call_id=calls["keep"], content={SECRET: 1}, final=final)
    _tell(local, "tool_result", call_id=calls["keep"], content=SECRET)
    _say(local, "another", message_id="m2")
    _say(local, "spawn")
    _tell(local, "compact")
    _say(local, "wait")
    _say(local, "never mind")
    _say(local, "wait")
    _tell(local, "cancel")


def _misuse(local: LocalTorpor) -> None:
    """Models and processors that fail, bodies that nobody can take, a thread whose every slice dies."""
    _say(local, "busy", "t2")
    local.advance(3600)
    _say(local, "refused", "t2")
    _say(local, "hello", "t3", agent="clumsy")
    _say(local, "hello", DOOMED)
    for body in BODIES.values():
        local.send(body, thread_id="odd")
    local.drain()
    _tell(local, "close")
    _say(local, "too late")


def test_whatever_is_said_and_whatever_goes_wrong(capfd: pytest.CaptureFixture[str]) -> None:
    with secretive() as (local, kept):
        _converse(local)
        _misuse(local)
        assert len(local.parked()) >= len(BODIES) + 1
        said = json.dumps([local.outputs(), local.history("t1")])
    assert said.count(SECRET) > 50, "else nothing was there to be given away"
    assert {line["action"] for line in kept.lines} >= {
        *("slice_started", "input", "model", "model_failed", "call_dispatched", "call_answered", "spawn"),
        *(
            "commit",
            "settle",
            "wake_armed",
            "timer_armed",
            "slice",
            "worker_run",
            "refused",
            "closed",
            "fail",
        ),
        "dead_letter",
    }
    assert any("CostEstimate" in metrics for metrics in kept.metrics)
    assert any(found["failed"] for _, found in kept.traces)
    assert [text for text in (*kept.texts, repr(kept.traces)) if SECRET in text.lower()] == []
    assert SECRET not in "".join(capfd.readouterr()).lower()
