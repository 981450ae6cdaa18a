"""Scenarios of threads that end: erased while something works on them, or expired, and used again."""

from core import Agent, App

from .scenario import Scenario, after, at_once, begun, erase, expire, script, user, when_quiet
from .tools import fetch, look_up

APP = App([Agent(name="tester", model="script:none", instructions="Test.", tools=[fetch, look_up])])
ECHO = ({"user": "."}, {"text": "You said: {user}"})
FETCH = script(
    ({"user": "fetch"}, {"text": "Looking.", "tool_calls": [{"name": "fetch", "args": {"topic": "tides"}}]}),
    ECHO,
    ({}, {"text": "It says: {result}"}),
)

ENDING = [
    Scenario(
        "erased_while_a_worker_runs_and_used_again",
        APP,
        FETCH,
        [
            user("m1", "fetch", metadata={"user_id": "ann"}),
            erase("erase", after("tool_started")),
            user("m2", "fetch", when_quiet),
        ],
    ),
    Scenario(
        "erased_as_somebody_speaks",
        APP,
        script(ECHO),
        [user("m1", "one"), erase("erase", begun("t")), user("m2", "two", begun("t"))],
    ),
    Scenario(
        "expired_and_used_again",
        APP,
        FETCH,
        [user("m1", "one", metadata={"user_id": "ann"}), expire("later"), user("m2", "two", when_quiet)],
    ),
    Scenario(
        "spoken_to_as_it_expires",
        APP,
        script(ECHO),
        [user("m1", "one"), expire("later"), user("m2", "two", at_once)],
    ),
]
