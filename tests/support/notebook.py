"""The app of a long conversation: an `AgentState` that inline tools and a worker work on, and a model shown little."""

from core import Agent, App, ToolContext, tool
from core.history import keep_recent_messages, trim_to_tokens
from core.state import AgentState

MAX_MESSAGES = 8


class Notebook(AgentState):
    words: list[str] = []


@tool(inline=True)
def note(text: str, ctx: ToolContext) -> str:
    """Note a word."""
    step = ctx.state.increment_step()
    ctx.state.words.append(text)
    ctx.state.scratchpad += f"{step}: {text}\n"
    return (
        f"step {step}, given {len(ctx.state.messages)}, {len(ctx.state.sources)} sources, {ctx.state.report}"
    )


@tool(worker="web")
def look_up(word: str, ctx: ToolContext) -> str:
    """Look a word up."""
    for _ in range(2):
        ctx.add_source(f"https://example.org/{word}", word)
    ctx.add_source("https://example.org/index", "Index")
    ctx.patch_state({"report": f"on {word}"})
    return f"{word}: found"


app = App(
    agents=[
        Agent(
            name="a",
            model="script:tests/support/notebook.json",
            tools=[note, look_up],
            builtin_tools=False,
            state_type=Notebook,
            history_processors=[keep_recent_messages(MAX_MESSAGES), trim_to_tokens(2_000)],
        )
    ]
)
