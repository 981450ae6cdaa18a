"""An application that can do nearly everything, and what a client may say to it at any time, in any order."""

from collections.abc import Iterator
from typing import Any

from core import Agent, App, Limits, Settings

from .commits_seen import Json
from .facts import Facts
from .scenario import THREAD, Say, control, script, user
from .tools import burn, count, fetch, look_up, remember, watch, weigh
from .tree_scenarios import THREAD_TOOLS, call, on, spawn, task

TOOLS: list[Any] = [fetch, weigh, look_up, watch, burn, remember, count]
ANYTHING = App(
    [
        Agent(
            name="anyone",
            model="script:none",
            tools=TOOLS,
            builtin_tools=[*THREAD_TOOLS, "sleep"],
            limits=Limits(approval_seconds=400),
            settings=Settings(context_window=20_000, max_output_tokens=20),
        )
    ]
)
SCRIPT = script(
    on("A summary.", compaction=True),
    on("", call("fetch", topic="tides"), call("look_up", word="tide"), user="^fetch"),
    on("Both.", call("weigh", thing="moon"), call("remember", topic="moon"), user="^weigh"),
    on("", call("watch", what="tide"), user="^watch"),
    on("", call("burn", what="letters"), user="^burn"),
    on("", call("count"), user="^count"),
    on("", call("sleep", seconds=60), user="^nap"),
    on("", spawn("dig"), user="^dig"),
    on("", call("fetch", topic="depths"), **task("dig")),
    on("noted", event=True, depth=1),
    on("So: {result}", event=True),
    on("I wait.", tool_result="spawn_thread"),
    on("Watching.", tool_result="watch"),
    on("You said: {user}", user="."),
    on("It says: {result}"),
)
TEXTS = ("hello", "fetch it", "weigh it", "watch it", "burn it", "count it", "nap", "dig")
"""What a person says: a text without work, and one for each thing that the agent can do."""
CONTROLS = ("cancel", "compact")


def texts(number: int, **fields: Any) -> list[Say]:
    """All that a person may say as message `number`."""
    said = [user(f"m{number}", text, **fields) for text in TEXTS]
    return [*said, *(control(kind, f"m{number}") for kind in CONTROLS)]


def answers(facts: Facts, number: int) -> Iterator[Say]:
    """What else may come as message `number`, after what has happened: answers to questions, events."""
    thread = facts.thread(THREAD)
    for call_id in thread.questions:
        for approved in (True, False):
            yield control("answer", f"m{number}", call_id=call_id, approved=approved)
    for call_id in sorted(thread.subscriptions):
        event: Json = {"call_id": call_id, "content": f"event {number}"}
        yield control("subscription_event", f"m{number}", **event, associative=True)
        yield control("subscription_event", f"m{number}", **event)
        yield control("subscription_event", f"m{number}", **event, final=True)
