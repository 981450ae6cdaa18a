"""An app in which everything that anybody says holds a secret, played by `secret_app.json`."""

from collections.abc import Sequence

from core import Agent, App, AskChoice, Limits, Price, Source, ToolContext, ToolResult, tool
from core.request import RequestMessage

SECRET = "zebra"
MODEL = "script:tests/functional/secret_app.json"


@tool
def hush(text: str, ctx: ToolContext) -> str:
    """Remember something."""
    ctx.state["kept"] = text
    return f"{SECRET} {text}"


@tool
def fail_here(text: str) -> str:
    """Fail in the slice."""
    raise ValueError(f"{SECRET} {text}")


@tool(requires_approval=True)
def pay(text: str) -> str:
    """Pay, once somebody agrees."""
    return f"{SECRET} {text}"


@tool(worker="vault")
def keep(text: str, ctx: ToolContext) -> ToolResult:
    """Keep something."""
    return ToolResult(
        text,
        subscription=True,
        sources=[Source(url=f"https://{SECRET}.example", title=SECRET)],
        state_patch={SECRET: text},
    )


@tool(worker="vault")
def fail_there(text: str) -> str:
    """Fail in the worker."""
    raise RuntimeError(f"{SECRET} {text}")


@tool(worker="vault")
def ask(text: str, ctx: ToolContext) -> str | AskChoice:
    """Ask somebody."""
    return ctx.answer.choice if ctx.answer else AskChoice(f"{SECRET}? {text}", [SECRET, "no"])


def trips(messages: Sequence[RequestMessage]) -> list[RequestMessage]:
    """A history processor that fails."""
    raise ValueError(f"{SECRET} in {len(messages)} messages")


teller = Agent(
    name="teller",
    model=MODEL,
    instructions=f"Tell nobody of the {SECRET}.",
    tools=[hush, fail_here, pay, keep, fail_there, ask],
    limits=Limits(model_tries=4),
)
clumsy = Agent(name="clumsy", model=MODEL, history_processors=[trips])
app = App(agents=[teller, clumsy], prices={MODEL: Price(input=3, output=15)})
SPEC = f"{__name__}:app"
