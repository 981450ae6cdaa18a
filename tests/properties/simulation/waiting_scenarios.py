"""Scenarios of waiting and remembering: sleeps and deadlines, questions to people, and compactions."""

from typing import Any

from core import Agent, App, Limits, Settings
from core.app import App as Application
from core.ids import birth_id, call_id
from infra.scripted.script import Script

from .event_scenarios import ACROSS_CHECKPOINTS, WATCH, event
from .scenario import THREAD, Say, Scenario, When, after, control, script, user, when_quiet
from .tools import ask_elsewhere, burn, fetch, pick, shred, watch
from .tree_scenarios import FORK_OF_A_CHILD, Rule, call, on, spawn, task

TOOLS: list[Any] = [fetch, ask_elsewhere, burn, shred, pick]
SLEEPS = ["sleep"]
WINDOW = 600
"""Tokens of those who remember little."""


def waiter(**limits: Any) -> Application:
    """An application whose agent sleeps and asks people."""
    fields: Any = {"tools": TOOLS, "builtin_tools": SLEEPS, "limits": Limits(**limits)}
    return App([Agent(name="waiter", model="script:none", **fields)])


def rememberer(window: int, **fields: Any) -> Application:
    """An application whose agent's model reads no more than this."""
    settings = Settings(context_window=window, max_output_tokens=20)
    return App([Agent(name="rememberer", model="script:none", settings=settings, **fields)])


WAITER = waiter(approval_seconds=400)
FORGETFUL = rememberer(WINDOW)
REMEMBERER = rememberer(20_000, tools=[fetch, ask_elsewhere], builtin_tools=["spawn_thread"])


def told(*rules: Rule) -> Script:
    """These rules; and whoever hears of something passes it on."""
    return script(*rules, on("You said: {user}", user="."), on("It says: {result}"))


def asked(name: str, **args: Any) -> str:
    """The id of the call that the first turn of the thread makes."""
    return call_id(THREAD, birth_id(THREAD, "m1"), 2, 0, name, args)


IS_ASKED = after("question")


def answer(message_id: str, to: str, when: When = IS_ASKED, **fields: Any) -> Say:
    """A person answers what was asked about a call."""
    return control("answer", message_id, when, call_id=to, **fields)


NAP = on("", call("sleep", seconds=60), user="go")
SLEEPING = [
    Scenario("sleep_that_runs_out", WAITER, told(NAP), [user("m1", "go")]),
    Scenario(
        "long_sleep",
        WAITER,
        told(on("", call("sleep", seconds=2_000), user="go")),
        [user("m1", "go")],
    ),
    Scenario(
        "sleep_woken_by_text",
        WAITER,
        told(NAP),
        [user("m1", "go"), user("m2", "wake up", when_quiet)],
    ),
    Scenario(
        "sleep_beside_a_call",
        WAITER,
        told(on("", call("sleep", seconds=60), call("fetch", topic="tides"), user="go")),
        [user("m1", "go")],
    ),
    Scenario(
        "sleep_beside_a_deadline",
        WAITER,
        told(on("", call("sleep", seconds=60), call("ask_elsewhere", question="why"), user="go")),
        [user("m1", "go")],
        silent=("outside",),
    ),
]

BURN = on("", call("burn", what="letters"), user="go")
BURNING = asked("burn", what="letters")
PICK = on("", call("pick", between="north south"), user="go")
PICKING = asked("pick", between="north south")
QUESTION: dict[str, Any] = {
    "type": "question",
    "thread_id": THREAD,
    "message_id": "q1",
    "call_id": asked("ask_elsewhere", question="where"),
    "kind": "choice",
    "prompt": "Where?",
    "choices": ["north", "south"],
    "default": "north",
    "expires_in_seconds": 60,
}
AUTHORISATION = {
    **{key: QUESTION[key] for key in ("type", "thread_id", "message_id", "call_id", "expires_in_seconds")},
    "kind": "auth",
    "url": "https://example.com/allow",
}
ASKING = [
    Scenario(
        "approval_given_twice",
        WAITER,
        told(BURN),
        [
            user("m1", "go"),
            answer("a1", BURNING, approved=True),
            answer("a2", BURNING, approved=True, args={"what": "photographs"}),
        ],
    ),
    Scenario(
        "approval_interrupted",
        WAITER,
        told(BURN),
        [
            user("m1", "go"),
            user("m2", "never mind", after("question")),
            answer("a1", BURNING, after("question_closed"), approved=True),
        ],
    ),
    Scenario(
        "approval_that_expires",
        WAITER,
        told(BURN),
        [user("m1", "go"), answer("a1", BURNING, after("question_closed"), approved=True)],
    ),
    Scenario(
        "approval_edited",
        WAITER,
        told(BURN),
        [user("m1", "go"), answer("a1", BURNING, approved=True, args={"what": "photographs"})],
    ),
    Scenario(
        "approval_refused_or_given",
        WAITER,
        told(BURN),
        [user("m1", "go"), answer("a1", BURNING, approved=False), answer("a2", BURNING, approved=True)],
    ),
    Scenario(
        "approval_inside_the_slice",
        WAITER,
        told(on("", call("shred", what="letters"), user="go")),
        [user("m1", "go"), answer("a1", asked("shred", what="letters"), approved=True)],
    ),
    Scenario(
        "choice_made",
        WAITER,
        told(PICK),
        [user("m1", "go"), answer("a1", PICKING, choice="south"), answer("a2", PICKING, choice="north")],
    ),
    Scenario("choice_by_default", WAITER, told(PICK), [user("m1", "go")]),
    Scenario(
        "choice_of_a_program_elsewhere",
        WAITER,
        told(on("", call("ask_elsewhere", question="where"), user="go")),
        [
            user("m1", "go"),
            Say(QUESTION, after("tool_started")),
        ],
        silent=("outside",),
    ),
]


def full(says: str, *calls: dict[str, Any], **when: Any) -> Rule:
    """A turn after which the window is nearly full."""
    held, reply = on(says, *calls, **when)
    return held, {**reply, "usage": {"input_tokens": 19_000, "output_tokens": 10}}


SUMMARY = on("A summary.", compaction=True)
LONG = on("word " * WINDOW, user="go")
REMEMBERING = [
    Scenario(
        "compaction_beside_a_call",
        REMEMBERER,
        told(
            SUMMARY,
            full("Looking.", call("fetch", topic="tides"), user="go"),
        ),
        [user("m1", "hello"), user("m2", "go", after("assistant_message"))],
    ),
    Scenario(
        "compaction_that_is_waited_for",
        FORGETFUL,
        told(SUMMARY, LONG),
        [user("m1", "go"), user("m2", "on", after("assistant_message"))],
    ),
    Scenario(
        "compaction_that_fails",
        FORGETFUL,
        told(({"compaction": True}, {"error": "invalid"}), LONG),
        [user("m1", "go"), user("m2", "on", after("assistant_message"))],
    ),
    Scenario(
        "spawn_after_a_compaction",
        REMEMBERER,
        told(SUMMARY, full("Ready.", user="hello"), on("", spawn("dig"), user="go"), on("dug", **task())),
        [user("m1", "hello"), user("m2", "go", after("compacted"))],
    ),
]
WAITING = [*SLEEPING, *ASKING, *REMEMBERING]

NEVER_SUMMARISED = Scenario(
    "compaction_that_never_ends",
    rememberer(WINDOW, limits=Limits(model_tries=100)),
    told(({"compaction": True}, {"error": "throttled"}), LONG),
    [user("m1", "go"), user("m2", "on", after("assistant_message"))],
)
"""Only its deadline ends the compaction that an answer waits for."""
TO_SLEEP = ["spawn_thread", "sleep_until_event_or_input"]
SLEEPER = App([Agent(name="sleeper", model="script:none", tools=[watch], builtin_tools=TO_SLEEP)])
LASTING = [
    NEVER_SUMMARISED,
    FORK_OF_A_CHILD,
    ACROSS_CHECKPOINTS,
    Scenario(
        "compaction_on_top_of_another",
        REMEMBERER,
        told(SUMMARY, full("Ready.", user="hello"), full("More.", user="more")),
        [user("m1", "hello"), user("m2", "more", after("compacted"))],
    ),
    Scenario(
        "authorisation_given",
        WAITER,
        told(on("", call("ask_elsewhere", question="where"), user="go")),
        [
            user("m1", "go"),
            Say(AUTHORISATION, after("tool_started")),
            answer("a1", QUESTION["call_id"], approved=True),
        ],
        silent=("outside",),
    ),
    Scenario(
        "sleep_woken_by_an_event",
        SLEEPER,
        told(
            WATCH,
            on("I sleep.", call("sleep_until_event_or_input"), tool_result="watch", result="watching"),
            on("noted", event=True),
        ),
        [user("m1", "watch"), event("e1", "it turned", after("assistant_message"), associative=True)],
    ),
    Scenario(
        "sleep_woken_by_a_report",
        SLEEPER,
        told(
            on("", spawn("dig"), call("sleep_until_event_or_input"), user="go"),
            on("dug", **task()),
            on("noted", event=True),
        ),
        [user("m1", "go")],
    ),
    Scenario(
        "compaction_that_is_a_dead_letter",
        FORGETFUL,
        told(SUMMARY, LONG),
        [
            user("m1", "go"),
            control("compact", "c1", after("assistant_message")),
            user("m2", "on", after("assistant_message")),
        ],
        deadly="Summarise",
    ),
    Scenario(
        "compacted_parent_hears_of_the_end_of_its_child",
        REMEMBERER,
        told(
            SUMMARY,
            on("dug", tool_result="ask_elsewhere"),
            full("I wait.", tool_result="spawn_thread", depth=0),
            on("", spawn("dig"), user="go"),
            on("", call("ask_elsewhere", question="where"), **task()),
            on("So: {result}", event=True),
        ),
        [user("m1", "go")],
        silent=("outside",),
    ),
    Scenario(
        "compaction_in_a_child",
        REMEMBERER,
        told(
            SUMMARY,
            on("", spawn("dig"), user="go"),
            full("Looking.", call("fetch", topic="tides"), **task()),
        ),
        [user("m1", "go")],
    ),
]
"""What takes too many tries, or threads, for every one of its faults to be in `make test`."""
