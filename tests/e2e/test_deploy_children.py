"""Threads of one tree on the deployed system: a child that uses a worker and reports, and events, one of which joins
the conversation while another gets a child of its own.
"""

import json
from typing import Any

from tests.e2e.deployed import Deployed
from tests.e2e.openai_server import Message, Request, calls, says, tool_results

THREAD = "harbour"
OPENING = "Watch the pier."
TASK = "Look up the tides."


def _plays(request: Request) -> Message:
    """What the conversation goes on with, in the thread itself and in the event's child, which inherits it."""
    told = tool_results(request)
    last = told[-1] if told else ""
    if not told:
        return calls(("watch", {"place": "pier"}))
    if "watching pier" in last:
        return calls(("spawn_thread", {"instructions": TASK, "child_of": [THREAD], "inherit": False}))
    if "credit_tokens" in last:
        return says("Somebody looks.")
    if last == "a storm":
        return calls(("report_to_parent", {"report": "A storm comes!"}))
    return says("Reported." if "reported_to" in last else f"I hear: {last}")


def _event(deployed: Deployed, number: int, content: str, **fields: Any) -> None:
    """From the source that the tool subscribed to."""
    (started,) = deployed.mailbox.outputs(THREAD, "tool_started")
    event = {"type": "subscription_event", "thread_id": THREAD, "call_id": started["call_id"]}
    body = json.dumps({**event, "event_id": str(number), "content": content, **fields})
    deployed.mailbox.send(body, THREAD)


def test_a_child_reports_and_events_are_heard_once_each(deployed: Deployed) -> None:
    heard = ["Somebody looks.", "I hear: Twice a day."]
    deployed.model.follow(OPENING, _plays)
    deployed.model.play(TASK, calls(("search_documents", {"query": "tides"})), says("Twice a day."))
    deployed.mailbox.say(THREAD, OPENING)
    assert deployed.mailbox.wait_for_answers(THREAD, len(heard)) == heard
    (found,) = tool_results(deployed.model.requests(TASK)[-1])
    assert "tides.md" in found
    for _ in range(2):
        _event(deployed, 1, "high water", associative=True)
    _event(deployed, 2, "a storm", final=True)
    _event(deployed, 3, "too late", associative=True)

    def ended() -> list[str]:
        return [one["child_thread_id"] for one in deployed.mailbox.outputs(THREAD, "thread_closed")]

    deployed.mailbox.wait_until(lambda: len(ended()) == 2, "end of both children")
    spawned = [one["child_thread_id"] for one in deployed.mailbox.outputs(THREAD, "thread_spawned")]
    assert (sorted(ended()), len(set(spawned))) == (sorted(spawned), 2)
    heard += ["I hear: high water", "I hear: A storm comes!"]
    assert deployed.mailbox.wait_for_answers(THREAD, len(heard)) == heard
