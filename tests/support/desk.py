"""The app of a long conversation with a supervisor: two specialists share a state, a worker finds sources, and each
model is shown little.
"""

from core import Agent, App, Supervisor, ToolContext, tool
from core.history import keep_recent_messages, trim_to_tokens
from core.state import AgentState
from tests.support.notebook import MAX_MESSAGES, look_up


class Ledger(AgentState):
    words: list[str] = []
    total: int = 0


@tool(inline=True)
def keep(text: str, ctx: ToolContext) -> str:
    """Keep a word."""
    ctx.state.words.append(text)
    return f"{len(ctx.state.words)} kept, given {len(ctx.state.messages)}, total {ctx.state.total}"


@tool(inline=True)
def add(number: int, ctx: ToolContext) -> str:
    """Add a number."""
    ctx.state.total += number
    return f"{ctx.state.total} in all, given {len(ctx.state.messages)}, {len(ctx.state.words)} words"


def _agent(name: str, *tools: object) -> Agent:
    return Agent(
        name=name,
        model=f"script:tests/support/desk_{name}.json",
        tools=tools,  # type: ignore[arg-type]
        builtin_tools=False,
        state_type=Ledger,
        history_processors=[keep_recent_messages(MAX_MESSAGES), trim_to_tokens(2_000)],
    )


words, numbers = _agent("words", keep, look_up), _agent("numbers", add)
app = App(
    agents=[
        Supervisor(
            "desk",
            {"words": words, "numbers": numbers},
            model="script:tests/support/desk_routes.json",
        )
    ]
)
