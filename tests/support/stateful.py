"""Threads with a state of their author's: its type, inline tools that work on it, and what a log recorded of it."""

from typing import Any

from core.agent import Agent
from core.changes import StateEdited
from core.commit import Commit
from core.state import GlobalState
from core.state.edits import Edit
from core.tools import ToolContext, ToolResult, tool
from infra.memory import MemoryStore
from tests.support.inputs import THREAD
from tests.support.world import TOOLS, World, agent


class Notes(GlobalState):
    notes: list[str] = []
    count: int = 0


SEEN: list[Any] = []
"""States that `look` was given."""


@tool(inline=True)
def write(text: str, ctx: ToolContext) -> str:
    """Write a note."""
    ctx.state.notes.append(text)
    ctx.state.count += 1
    return f"{len(ctx.state.notes)} notes"


@tool(inline=True)
def log(role: str, content: str, ctx: ToolContext) -> str:
    """Tell the application."""
    ctx.state.add_message(role, f"{content}!")
    return "told"


@tool(inline=True)
def look(ctx: ToolContext) -> str:
    """Look at the state."""
    SEEN.append(ctx.state)
    return f"{ctx.state.notes} {ctx.state.count}"


@tool(inline=True)
def spoil(ctx: ToolContext) -> str:
    """Leave what fits no state."""
    ctx.state.count = "many"
    return "spoilt"


@tool(inline=True)
def patch(changes: dict[str, Any], ctx: ToolContext) -> ToolResult:
    """Patch the state."""
    return ToolResult("patched", state_patch=changes)


STATE_TOOLS = (*TOOLS, write, log, look, spoil, patch)


def noting(**fields: Any) -> Agent:
    """An agent whose threads keep `Notes`."""
    return agent(**{"tools": STATE_TOOLS, "state_type": Notes, **fields})


def recorded(one: World, thread_id: str = THREAD) -> list[tuple[Edit, ...]]:
    """What each commit changed of the state."""
    assert isinstance(one.store, MemoryStore)
    log: tuple[Commit, ...] = one.store.commits(thread_id)
    return [
        tuple(edit for change in commit.changes if isinstance(change, StateEdited) for edit in change.edits)
        for commit in log
    ]
