"""Scenarios of subscriptions: events that join their thread or get a child, wait for calls, come twice, or last."""

from typing import Any

from core.ids import birth_id, call_id

from .scenario import THREAD, Say, Scenario, When, after, begun, control, fork, user
from .tree_scenarios import FORKED, TEAM, call, led, on, spawn, task

WATCHED = call_id(THREAD, birth_id(THREAD, "m1"), 2, 0, "watch", {"what": "tide"})
"""The call whose subscription the first turn of the thread opens."""
WATCH = on("", call("watch", what="tide"), user="watch")
WATCHING = on("Watching.", tool_result="watch")
CLOSES = call("close_thread", thread_id="{thread_id}", report_to_parent="it rests")


IS_WATCHING = after("assistant_message")


def event(message_id: str, content: str, when: When = IS_WATCHING, **fields: Any) -> Say:
    """Something happened to what is watched."""
    return control("subscription_event", message_id, when, call_id=WATCHED, content=content, **fields)


EVENTS = [
    Scenario(
        "event_during_a_call",
        TEAM,
        led(WATCH, on("", call("fetch", topic="tide"), tool_result="watch")),
        [user("m1", "watch"), event("e1", "it turned", after("tool_started"), associative=True)],
    ),
    Scenario(
        "event_with_a_child",
        TEAM,
        led(WATCH, WATCHING, on("noted", event=True, depth=1)),
        [user("m1", "watch"), event("e1", "it turned")],
    ),
    Scenario(
        "two_events_with_a_child_each",
        TEAM,
        led(WATCH, WATCHING, on("", CLOSES, event="rests", depth=1), on("noted", event=True, depth=1)),
        [user("m1", "watch"), event("e1", "it turned"), event("e2", "it rests", final=True)],
    ),
    Scenario(
        "event_doubled_and_final",
        TEAM,
        led(WATCH, WATCHING),
        [
            user("m1", "watch"),
            event("e1", "it turned", event_id="turn", associative=True),
            event("e2", "it turned", event_id="turn", associative=True),
            event("e3", "it rests", event_id="rest", associative=True, final=True),
            event("e4", "it is late", event_id="late", associative=True),
        ],
    ),
]

ACROSS_CHECKPOINTS = Scenario(
    "spawn_and_fork_across_checkpoints",
    TEAM,
    led(
        WATCH,
        WATCHING,
        on("noted", event=True, depth=1),
        on("", spawn("dig"), user="go"),
        on("dug", **task()),
        on("You said: {user}", user="."),
    ),
    [
        user("m1", "watch"),
        event("e1", "it turned"),
        user("m2", "go", after("thread_closed")),
        fork("f1", 4, FORKED, after("thread_closed", 2)),
        user("m3", "hello", begun(FORKED), thread_id=FORKED),
    ],
    checkpoint_after=2,
)
