"""Scenarios of what changes under way: an author's state, a deployment between slices, refused messages sent again."""

from core import Agent, App

from .scenario import Scenario, after, deploy, redrive, script, user, when_quiet
from .tools import count, fetch, look_up, remember
from .tree_scenarios import Rule, call, on

STATEFUL = App([Agent(name="stateful", model="script:none", tools=[remember, count], builtin_tools=False)])
OLD = App([Agent(name="old", model="script:none", tools=[fetch, look_up], builtin_tools=False)])
NEW = App(
    [
        Agent(name="new", model="script:none", tools=[fetch], builtin_tools=False),
        Agent(name="newcomer", model="script:none", builtin_tools=False),
    ]
)
TOOL_GONE = App([Agent(name="new", model="script:none", tools=[look_up], builtin_tools=False)])
FETCH: Rule = on("", call("fetch", topic="tides"), user="fetch")
LOOK_UP: Rule = on("", call("look_up", word="tide"), user="define")
SAID: Rule = on("You said: {user}", user=".")
SUM_UP: Rule = on("It says: {result}")

CHANGING = [
    Scenario(
        "state_patched_by_workers_and_inside",
        STATEFUL,
        script(
            on(
                "", call("remember", topic="tides"), call("remember", topic="bores"), call("count"), user="do"
            ),
            on("", call("count"), user="again"),
            SUM_UP,
        ),
        [user("m1", "do"), user("m2", "again", when_quiet)],
    ),
    Scenario(
        "state_patch_of_an_interrupted_call",
        STATEFUL,
        script(
            on("", call("remember", topic="tides"), user="do"), on("", call("count"), user="never"), SUM_UP
        ),
        [user("m1", "do"), user("m2", "never mind", after("tool_started"))],
    ),
    Scenario(
        "deployment_during_a_call",
        OLD,
        script(FETCH, LOOK_UP, SAID, SUM_UP),
        [user("m1", "fetch"), deploy("d1", after("tool_started")), user("m2", "define", when_quiet)],
        later=NEW,
    ),
    Scenario(
        "deployment_that_takes_the_called_tool_away",
        OLD,
        script(FETCH, LOOK_UP, SAID, SUM_UP),
        [user("m1", "fetch"), deploy("d1", after("tool_started")), user("m2", "fetch it", when_quiet)],
        later=TOOL_GONE,
    ),
    Scenario(
        "redrive_after_a_deployment",
        OLD,
        script(SAID),
        [
            user("m1", "hello", agent="newcomer"),
            deploy("d1", after("error")),
            redrive("r1", when_quiet),
        ],
        later=NEW,
    ),
]
