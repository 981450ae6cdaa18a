"""Scenarios with a supervisor: what follows up goes on where it was, an interruption goes elsewhere, a classification
that cannot be had for a while, or at all.
"""

from core import Agent, App, Limits, Supervisor

from .scenario import Scenario, after, script, user, when_quiet
from .tools import fetch, look_up
from .tree_scenarios import Rule

PATIENCE = Limits(model_tries=5)
"""Enough for a classification that fails four times and succeeds."""
ROUTES = {
    "far": Agent(name="far", model="script:none", tools=[fetch], builtin_tools=False, limits=PATIENCE),
    "near": Agent(name="near", model="script:none", tools=[look_up], builtin_tools=False, limits=PATIENCE),
}
DESK = App([Supervisor("desk", ROUTES, window=3)])

ASKED_FOR: tuple[Rule, ...] = (
    ({"routing": True, "user": "fetch"}, {"text": "far"}),
    ({"routing": True, "user": "define"}, {"text": "near"}),
    ({"routing": True, "contains": "assistant: Near: [^\\n]*\\n\\n"}, {"text": "near"}),
    ({"routing": True}, {"text": "nowhere"}),
)
ANSWERED: tuple[Rule, ...] = (
    ({"user": "fetch"}, {"tool_calls": [{"name": "fetch", "args": {"topic": "tides"}}]}),
    ({"user": "define"}, {"tool_calls": [{"name": "look_up", "args": {"word": "tide"}}]}),
    ({"tool_result": "look_up"}, {"text": "Near: {result}"}),
    ({"tool_result": "fetch"}, {"text": "Far: {result}"}),
    ({}, {"text": "You said: {user}"}),
)
NOT_AT_ONCE: list[Rule] = [({"routing": True, "attempt": n}, {"error": "throttled"}) for n in range(1, 5)]
NEVER: list[Rule] = [({"routing": True}, {"error": "server"})]

SUPERVISED = [
    Scenario(
        "supervisor_with_a_follow_up",
        DESK,
        script(*ASKED_FOR, *ANSWERED),
        [user("m1", "define"), user("m2", "and that", when_quiet)],
    ),
    Scenario(
        "supervisor_and_an_interruption",
        DESK,
        script(*ASKED_FOR, *ANSWERED),
        [user("m1", "fetch"), user("m2", "define rather", after("tool_started"))],
    ),
    Scenario(
        "supervisor_that_is_throttled",
        DESK,
        script(*NOT_AT_ONCE, *ASKED_FOR, *ANSWERED),
        [user("m1", "define")],
    ),
    Scenario(
        "supervisor_that_never_answers",
        DESK,
        script(*NEVER, *ANSWERED),
        [user("m1", "define")],
    ),
]
