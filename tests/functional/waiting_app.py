"""An app that waits in every way: it sleeps, asks, watches and has little room, played by `waiting_app.json`."""

from core import Agent, App, AskChoice, Settings, ToolContext, ToolResult, tool

RUNS: list[str] = []
"""What was run, in this process."""


@tool(worker="desk", requires_approval=True)
def pay(amount: int) -> str:
    """Pay somebody."""
    RUNS.append(f"pay {amount}")
    return f"paid {amount}"


@tool(worker="desk")
def paint(what: str, ctx: ToolContext) -> str | AskChoice:
    """Paint something in a colour that a person chooses."""
    if ctx.answer is None:
        return AskChoice(f"Which colour for {what}?", ["red", "green"])
    RUNS.append(f"paint {what}")
    return f"{what} is {ctx.answer.choice}"


@tool(worker="desk")
def watch(topic: str) -> ToolResult:
    """Be told of news."""
    return ToolResult(f"watching {topic}", subscription=True)


@tool(requires_approval=True)
def wipe(disk: str) -> str:
    """Wipe a disk."""
    return f"wiped {disk}"


agent = Agent(
    name="clerk",
    instructions="Wait.",
    model="script:tests/functional/waiting_app.json",
    tools=[pay, paint, watch, wipe],
    settings=Settings(context_window=4_000, max_output_tokens=200),
)
app = App(agents=[agent])
SPEC = f"{__name__}:app"
