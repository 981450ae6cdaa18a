"""Agents with a small window, rules of a summariser, and what compactions leave to see."""

from typing import Any

from core.agent import Agent
from core.settings import Settings
from tests.support.rules import Rule, on, shown
from tests.support.tree import ROOT, Tree
from tests.support.world import TOOLS, agent

WINDOW = 2_000
"""Tokens, at four characters each."""
NEAR = 1_700
"""Tokens of a turn's input that are past the share of the window."""

SUMMARY: Rule = on(says="They greeted.", compaction=True)


def small(**fields: Any) -> Agent:
    """An agent whose window is small, and which is told of no tools but those of the tests."""
    settings = {"context_window": WINDOW, "max_output_tokens": 100, **fields.pop("settings", {})}
    return agent(
        **{
            "settings": Settings(**settings),
            "tools": TOOLS,
            "builtin_tools": ("spawn_thread", "sleep"),
            **fields,
        }
    )


def long(tokens: int, word: str = "x") -> str:
    """A text of about so many tokens."""
    return (word + " ") * (tokens * 4 // (len(word) + 1))


def compactions(one: Tree) -> list[str]:
    """Ids of the compaction children spawned so far."""
    spawns = [message for message in one.sent("spawn") if '"child_kind":"compaction"' in message.body]
    return list(dict.fromkeys(str(message.group) for message in spawns))


def compacted(one: Tree) -> list[int]:
    """What the `compacted` outputs say."""
    return [output["up_to_seq"] for output in one.outputs("compacted")]


def newest(one: Tree, thread_id: str = ROOT) -> list[str]:
    """The newest request of a thread, as lines."""
    return shown(one.model.asked_in(thread_id)[-1])
