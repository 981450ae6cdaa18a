"""Behaviours of a slice's events: what comes for a call that was answered long ago. Over both stores."""

from typing import Any

import pytest

from core.entries import Event
from core.messages import Input
from core.request import CallPart, ModelRequest, ResultPart
from core.tools import ToolResult, tool
from tests.contract.stores import Stores
from tests.support.inputs import message, user
from tests.support.played import calls, says
from tests.support.world import agent, world

CHILD = "t1~c7"


@tool
def watch(topic: str) -> ToolResult:
    """Watch a topic."""
    return ToolResult("watching", subscription=True)


def _event(s1: str) -> Input:
    return message("subscription_event", "e1", call_id=s1, content="high water", associative=True)


def _report(s1: str) -> Input:
    return message("thread_report", "p1", child_thread_id=CHILD, call_id=s1, text="high water")


@pytest.mark.parametrize(("comes", "child"), [(_event, None), (_report, CHILD)], ids=["event", "report"])
async def test_inline_event_or_report(stores: Stores, comes: Any, child: str | None) -> None:
    async with stores.open() as opened:
        turns = (calls(("watch", {"topic": "tides"})), says("I watch."), says("It is high."))
        one = world(*turns, store=opened.store, app=agent(tools=(watch,)))
        await one.run(user("go"))
        s1 = (await one.state()).subscriptions[0].call_id
        before = await one.store.entries("t1")
        report = await one.run(comes(s1))
        event, answer = (await one.store.entries("t1"))[len(before) :]
        assert isinstance(event, Event)
        assert (event.call_id, event.name, event.args) == (s1, "watch", {"topic": "tides"})
        assert event.child_thread_id == child
        assert (answer.kind, report.rounds, len(one.model.requests)) == ("assistant", 1, 3)
        _is_rendered_as_a_pair(one.model.requests[-1], event)


def _is_rendered_as_a_pair(request: ModelRequest, event: Event) -> None:
    call, result = request.messages[-2].parts[-1], request.messages[-1].parts[0]
    assert isinstance(call, CallPart)
    assert isinstance(result, ResultPart)
    assert (call.name, call.call_id) == ("receive_event__injected", result.call_id)
    origin = {"call_id": event.call_id, "name": event.name, "args": event.args}
    assert call.args == origin | ({"child_thread_id": CHILD} if event.child_thread_id else {})
    assert "high water" in str(result.content)
    assert len(request.messages[-1].parts) == 1
