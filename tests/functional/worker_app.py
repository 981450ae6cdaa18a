"""The app whose worker the functional tests run. `RUNS` tells how often a tool ran."""

import asyncio

from core import Agent, App, ToolContext, tool

RUNS: list[str] = []


@tool(worker="research")
def look_up(word: str, ctx: ToolContext) -> str:
    """Look a word up."""
    RUNS.append(ctx.call_id)
    ctx.add_source("https://example.org/" + word, word)
    ctx.patch_state({"last": word})
    return f"{word} for {ctx.user_id}"


@tool(worker="research")
def fail() -> str:
    """Raise."""
    raise ValueError("no such word")


@tool(worker="research", timeout_seconds=0.01)
async def hang() -> None:
    """Never end."""
    await asyncio.get_running_loop().create_future()


@tool(worker="research")
def shout(text: str) -> str:
    """Say it very loudly."""
    return text * 100_000


app = App(agents=[Agent(name="a", model="script:none.json", tools=[look_up, fail, hang, shout])])
