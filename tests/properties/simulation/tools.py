"""The tools of the simulated applications. Each tells the checker that it ran, and can be held up in the middle."""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar

from core import AskChoice, ToolContext, ToolResult, tool
from core.errors import PermanentError

from .points import CURRENT

RAN: ContextVar[Callable[[str], None]] = ContextVar("RAN")
"""The checker's ear of the run that is under way."""
DEADLINE_SECONDS = 850
APPROVED_FIRST = frozenset({"burn", "shred"})
"""Names of the tools that a person must approve."""
INLINE_SECONDS = 1
"""The least that a slice gives an inline tool, however late: so a hanging one is answered the same everywhere."""


class ToolBroke(PermanentError):
    """A tool of the application raises."""


async def _begin(ctx: ToolContext) -> None:
    RAN.get()(ctx.call_id)
    await CURRENT.get().hold("tool", "before")


@tool(worker="alpha", timeout_seconds=5, deadline_seconds=DEADLINE_SECONDS)
async def fetch(topic: str, ctx: ToolContext) -> str:
    """Fetch what there is on a topic."""
    await _begin(ctx)
    ctx.add_source(f"https://example.org/{topic}", topic)
    return f"all about {topic}"


@tool(worker="beta", timeout_seconds=5, deadline_seconds=DEADLINE_SECONDS)
async def weigh(thing: str, ctx: ToolContext) -> dict[str, str]:
    """Weigh a thing."""
    await _begin(ctx)
    return {"thing": thing, "weight": "7 kg"}


@tool(worker="alpha", timeout_seconds=5, deadline_seconds=DEADLINE_SECONDS)
async def break_down(ctx: ToolContext) -> str:
    """Always fails."""
    await _begin(ctx)
    raise ToolBroke("it broke")


@tool(worker="beta", timeout_seconds=5, deadline_seconds=DEADLINE_SECONDS)
async def hang(ctx: ToolContext) -> str:
    """Never returns."""
    await _begin(ctx)
    await asyncio.Event().wait()
    return "never"


@tool(worker="alpha", timeout_seconds=5, deadline_seconds=2 * DEADLINE_SECONDS)
async def kill(ctx: ToolContext) -> str:
    """Takes its worker down, every time."""
    await _begin(ctx)
    await CURRENT.get().die()
    return "never"


@tool(worker="outside", deadline_seconds=300)
async def ask_elsewhere(question: str) -> str:
    """Ask a program of somebody else's, which may never answer."""
    return question


@tool(worker="outside", deadline_seconds=700)
async def ask_longer(question: str) -> str:
    """The same, with more patience."""
    return question


@tool(timeout_seconds=INLINE_SECONDS)
async def look_up(word: str, ctx: ToolContext) -> str:
    """Look a word up, inside the slice."""
    await _begin(ctx)
    return f"{word}: a word"


@tool(timeout_seconds=INLINE_SECONDS)
async def watch(what: str, ctx: ToolContext) -> ToolResult:
    """Watch something: events tell what becomes of it."""
    await _begin(ctx)
    return ToolResult(f"watching {what}", subscription=True)


@tool(worker="alpha", timeout_seconds=5, deadline_seconds=DEADLINE_SECONDS, requires_approval=True)
async def burn(what: str, ctx: ToolContext) -> str:
    """Burn something, if a person agrees."""
    await _begin(ctx)
    return f"{what} are ashes"


@tool(requires_approval=True)
async def shred(what: str, ctx: ToolContext) -> str:
    """The same, inside the slice."""
    await _begin(ctx)
    return f"{what} are shreds"


@tool(worker="alpha", timeout_seconds=5, deadline_seconds=DEADLINE_SECONDS)
async def pick(between: str, ctx: ToolContext) -> str | AskChoice:
    """Let a person choose between words."""
    await _begin(ctx)
    words = between.split()
    if ctx.answers:
        return f"{ctx.answers[0].choice} was chosen"
    return AskChoice("Which?", words, default=words[0], expires_in_seconds=120)


@tool(worker="alpha", timeout_seconds=5, deadline_seconds=DEADLINE_SECONDS)
async def remember(topic: str, ctx: ToolContext) -> str:
    """Remember a topic, from a worker."""
    await _begin(ctx)
    ctx.patch_state({"topics": {topic: True}, "last": topic})
    return f"{topic} is remembered"


@tool(timeout_seconds=INLINE_SECONDS)
async def count(ctx: ToolContext) -> str:
    """Count one more, inside the slice."""
    await _begin(ctx)
    ctx.state["counted"] = ctx.state.get("counted", 0) + 1
    return f"{ctx.state['counted']} counted"
