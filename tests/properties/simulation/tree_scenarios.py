"""Scenarios of child threads: how they begin, what they tell, how they end. Each as short as what it shows allows."""

from typing import Any

from core import Agent, App, Limits, Settings
from core.app import App as Application
from core.ids import birth_id, call_id, child_thread_id
from infra.scripted.script import Script

from .scenario import THREAD, Scenario, after, begun, control, fork, script, user
from .tools import ask_elsewhere, fetch, watch

THREAD_TOOLS = [
    "spawn_thread",
    "report_to_parent",
    "close_thread",
    "send_message_to_child",
    "cancel_subscription",
]
Rule = tuple[dict[str, Any], dict[str, Any]]


def team_of(**fields: Any) -> Application:
    """An application whose agent has children, workers and subscriptions."""
    tools: list[Any] = [fetch, ask_elsewhere, watch]
    return App([Agent(name="lead", model="script:none", tools=tools, builtin_tools=THREAD_TOOLS, **fields)])


TEAM = team_of()
SPENDERS = team_of(limits=Limits(tokens=2_200, spawn_depth=2), settings=Settings(max_output_tokens=100))


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args}


def spawn(instructions: str, **more: Any) -> dict[str, Any]:
    """A call that spawns a child of whoever makes it."""
    return call("spawn_thread", instructions=instructions, child_of="{thread_stack}", **more)


def on(says: str = "", *calls: dict[str, Any], **when: Any) -> Rule:
    """When all of `when` holds, the model says and calls this, in one piece."""
    return when, {"text": says, "tool_calls": list(calls), "chunk_size": 1000}


def task(instructions: str = "") -> dict[str, Any]:
    """Holds for a child that has just been told its task."""
    return {"tool_result": "spawn_thread", "result": f"nothing else: {instructions}"}


def led(*rules: Rule) -> Script:
    """These rules; and whoever hears of something passes it on, whoever has done what it was asked waits."""
    return script(
        *rules,
        on("So: {result}", event=True),
        on("I wait.", tool_result="spawn_thread"),
        on("It says: {result}"),
    )


GO = on("", spawn("dig"), user="go")
CHILD = {"contains": '"thread_id": "(t~[a-z2-7]+)"'}
"""Finds the id of a child that the thread has spawned."""
ASKS = on("", call("ask_elsewhere", question="why"), **task("dig"))
FIRST_CHILD = child_thread_id(
    THREAD,
    call_id(
        THREAD,
        birth_id(THREAD, "m1"),
        2,
        0,
        "spawn_thread",
        {"instructions": "dig", "child_of": [THREAD]},
    ),
)
"""The one that the first turn of the thread spawns."""

SPAWNING = [
    Scenario(
        "spawn_with_report",
        TEAM,
        led(GO, on("", call("close_thread", thread_id="{thread_id}", report_to_parent="dug"), **task())),
        [user("m1", "go")],
    ),
    Scenario("silent_child", TEAM, led(GO, on("dug", **task())), [user("m1", "go")]),
    Scenario(
        "failing_child",
        TEAM,
        led(GO, (task(), {"error": "invalid"})),
        [user("m1", "go")],
    ),
    Scenario(
        "two_spawns_next_to_a_call",
        TEAM,
        led(
            on(
                "So be it.",
                spawn("north"),
                call("fetch", topic="maps"),
                spawn("south", inherit=False),
                user="go",
            ),
            on("dug", depth=1),
        ),
        [user("m1", "go")],
    ),
    Scenario(
        "grandchild",
        TEAM,
        led(
            on("", spawn("lead"), user="go"),
            on("", spawn("dig"), **task("lead")),
            on("dug", **task("dig")),
        ),
        [user("m1", "go")],
    ),
    Scenario(
        "budget_of_a_tree",
        SPENDERS,
        led(
            GO,
            on("", spawn("dig deeper"), **task()),
            on("I dig myself.", tool_result="spawn_thread", result="Limit"),
        ),
        [user("m1", "go")],
    ),
    Scenario(
        "dead_letter_of_a_spawn",
        TEAM,
        led(GO),
        [user("m1", "go")],
        deadly="nothing else: dig",
    ),
]

TELLING = [
    Scenario(
        "interim_report_then_end",
        TEAM,
        led(GO, on("", call("report_to_parent", report="half"), **task()), on("dug", depth=1)),
        [user("m1", "go")],
    ),
    Scenario(
        "reports_wait_for_a_call",
        TEAM,
        led(
            on("", spawn("dig"), call("ask_elsewhere", question="why"), user="go"),
            on("", call("report_to_parent", report="half"), **task()),
            on("dug", depth=1),
        ),
        [user("m1", "go")],
        silent=("outside",),
    ),
    Scenario(
        "message_to_a_working_child",
        TEAM,
        led(
            GO,
            ASKS,
            on("", call("send_message_to_child", thread_id="{1}", message="deeper"), **CHILD, user="tell"),
        ),
        [user("m1", "go"), user("m2", "tell it", after("tool_started"))],
        silent=("outside",),
    ),
    Scenario(
        "message_to_a_closing_child",
        TEAM,
        led(
            GO,
            on("dug", depth=1),
            on("", call("send_message_to_child", thread_id="{1}", message="deeper"), **CHILD, user="tell"),
        ),
        [user("m1", "go"), user("m2", "tell it", after("thread_spawned"))],
    ),
]

CLOSING = [
    Scenario(
        "child_closed_while_it_works",
        TEAM,
        led(GO, ASKS, on("", call("close_thread", thread_id="{1}"), **CHILD, user="stop")),
        [user("m1", "go"), user("m2", "stop it", after("tool_started"))],
        silent=("outside",),
    ),
    Scenario(
        "child_closed_by_a_person",
        TEAM,
        led(GO, ASKS),
        [user("m1", "go"), control("close", "c1", after("tool_started"), thread_id=FIRST_CHILD)],
        silent=("outside",),
    ),
    Scenario(
        "parent_closed_over_open_children",
        TEAM,
        led(on("", spawn("lead"), user="go"), on("", spawn("dig"), **task("lead")), ASKS),
        [user("m1", "go"), control("close", "c1", after("tool_started"))],
        silent=("outside",),
    ),
    Scenario(
        "closes_itself_next_to_other_calls",
        TEAM,
        led(
            GO,
            on(
                "Enough.",
                call("fetch", topic="maps"),
                call("close_thread", thread_id="{thread_id}", report_to_parent="enough"),
                spawn("more"),
                **task(),
            ),
        ),
        [user("m1", "go")],
    ),
]

FORKED = "f"
FORKING = [
    Scenario(
        "fork_during_a_slice",
        TEAM,
        led(on("Looking.", call("fetch", topic="maps"), user="go"), on("You said: {user}", user=".")),
        [
            user("m1", "go"),
            fork("f1", 3, FORKED, after("tool_started")),
            user("m2", "hello", begun(FORKED), thread_id=FORKED),
        ],
    ),
]

TREES = [*SPAWNING, *TELLING, *CLOSING, *FORKING]

FORK_OF_A_CHILD = Scenario(
    "fork_of_a_child",
    TEAM,
    led(GO, ASKS, on("You said: {user}", user=".")),
    [
        user("m1", "go"),
        fork("f1", 2, FORKED, after("tool_started"), of=FIRST_CHILD),
        user("m2", "hello", begun(FORKED), thread_id=FORKED),
    ],
    silent=("outside",),
)

SPAWNING_FOR_EVER = Scenario(
    "spawning_for_ever",
    team_of(limits=Limits(tokens=6_000, spawn_depth=2), settings=Settings(max_output_tokens=100)),
    script(on("More.", spawn("more"))),
    [user("m1", "go")],
)
"""A model that spawns whatever it is told: only limits end it."""
