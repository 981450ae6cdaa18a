"""The scenarios: short conversations, each with what can go wrong around it; those of one thread stand here."""

from typing import Any

from core import Agent, App

from .changing_scenarios import CHANGING
from .ending_scenarios import ENDING
from .event_scenarios import EVENTS
from .scenario import Scenario, after, control, script, user, when_quiet
from .supervised_scenarios import SUPERVISED
from .tools import ask_elsewhere, ask_longer, break_down, fetch, hang, kill, look_up, weigh
from .tree_scenarios import TREES
from .waiting_scenarios import LASTING, WAITING

TOOLS: list[Any] = [fetch, weigh, break_down, hang, kill, look_up]
APP = App([Agent(name="tester", model="script:none", instructions="Test.", tools=TOOLS)])
OUTSIDE = App([Agent(name="asker", model="script:none", tools=[ask_elsewhere, ask_longer])])


def _call(name: str, **args: str) -> dict[str, object]:
    return {"name": name, "args": args}


ECHO = ({"user": "."}, {"text": "You said: {user}"})
SUM_UP: tuple[dict[str, Any], dict[str, Any]] = ({}, {"text": "It says: {result}"})

FETCH = script(
    ({"user": "fetch"}, {"text": "Looking.", "tool_calls": [_call("fetch", topic="tides")]}), ECHO, SUM_UP
)

ALONE = [
    Scenario("text", APP, script(ECHO), [user("m1", "hello")]),
    Scenario(
        "two_texts",
        APP,
        script(ECHO),
        [user("m1", "one", metadata={"user_id": "ann"}), user("m2", "two", metadata={"tenant_id": "x"})],
    ),
    Scenario(
        "three_calls_on_two_workers",
        APP,
        script(
            (
                {"user": "compare"},
                {
                    "text": "Comparing.",
                    "tool_calls": [
                        _call("fetch", topic="tides"),
                        _call("weigh", thing="moon"),
                        _call("fetch", topic="bores"),
                    ],
                },
            ),
            SUM_UP,
        ),
        [user("m1", "compare", metadata={"user_id": "ann"})],
    ),
    Scenario(
        "inline_then_worker",
        APP,
        script(
            ({"user": "define"}, {"tool_calls": [_call("look_up", word="tide")]}),
            ({"tool_result": "look_up"}, {"tool_calls": [_call("fetch", topic="tide")]}),
            SUM_UP,
        ),
        [user("m1", "define", metadata={"user_id": "ann"})],
    ),
    Scenario(
        "interruption_with_a_result_in_flight",
        APP,
        FETCH,
        [user("m1", "fetch"), user("m2", "never mind", after("tool_started"))],
    ),
    Scenario(
        "on_busy_queue",
        APP,
        FETCH,
        [
            user("m1", "fetch"),
            user("m2", "and this", after("tool_started"), on_busy="queue"),
            user("m3", "and that", after("tool_started"), on_busy="queue"),
        ],
    ),
    Scenario(
        "cancel_with_a_late_result",
        APP,
        FETCH,
        [
            user("m1", "fetch"),
            control("cancel", "c1", after("tool_started")),
            user("m2", "go on", when_quiet),
        ],
    ),
    Scenario(
        "throttled_model",
        APP,
        script(
            *(({"user": "busy", "attempt": n}, {"error": "throttled"}) for n in range(1, 6)),
            ({"user": "busy", "attempt": 6}, {"text": "half an answer", "error": "disconnect"}),
            ECHO,
        ),
        [user("m1", "busy")],
    ),
    Scenario(
        "refused_request",
        APP,
        script(
            ({"user": "bad"}, {"error": "invalid"}), ({"user": "long"}, {"error": "overflow"}), ECHO, SUM_UP
        ),
        [user("m1", "bad"), user("m2", "long", after("error")), user("m3", "good", after("error", 2))],
    ),
    Scenario(
        "failing_and_hanging_tools",
        APP,
        script(
            ({"user": "try"}, {"tool_calls": [_call("break_down"), _call("hang"), _call("kill")]}), SUM_UP
        ),
        [user("m1", "try")],
    ),
    Scenario(
        "dead_letter_with_a_follower",
        APP,
        script(ECHO),
        [user("m1", "poison"), user("m2", "cure")],
        deadly="poison",
    ),
    Scenario(
        "nobody_answers",
        OUTSIDE,
        script(
            (
                {"user": "ask"},
                {
                    "tool_calls": [
                        _call("ask_elsewhere", question="why"),
                        _call("ask_longer", question="when"),
                    ]
                },
            ),
            SUM_UP,
        ),
        [user("m1", "ask")],
        silent=("outside",),
    ),
    Scenario(
        "refused_input",
        APP,
        script(ECHO),
        [
            user("m1", "one"),
            user("m1", "another text under the same id"),
            control("nonsense", "m2"),
            control("close", "m3"),
            user("m4", "too late"),
        ],
    ),
]
TOGETHER = [*TREES, *EVENTS, *WAITING]
VARIED = [*SUPERVISED, *CHANGING, *ENDING]
SCENARIOS = [*ALONE, *TOGETHER, *VARIED]
BY_NAME = {scenario.name: scenario for scenario in [*SCENARIOS, *LASTING]}
