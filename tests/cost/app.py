"""The app whose turns are counted: a tool of each kind, a supervisor, and texts of everyday size that do not
compress.
"""

from core import Agent, App, Supervisor, ToolResult, tool
from tests.contract.samples import noise

SCRIPT = "script:tests/cost/app.json"
RESULT_CHARACTERS = 2_000
LARGE_CHARACTERS = 300_000


@tool(worker="web")
def look_up(word: str) -> str:
    """Look a word up."""
    return noise(RESULT_CHARACTERS, word)


@tool(worker="web")
def download(word: str) -> str:
    """Fetch all there is."""
    return noise(LARGE_CHARACTERS, word)


@tool(worker="web")
def watch(place: str) -> ToolResult:
    """Be told of what happens at a place."""
    return ToolResult(f"watching {place}", subscription=True)


@tool(worker="web", requires_approval=True)
def pay(euros: int) -> str:
    """Pay a bill."""
    return f"paid {euros}"


@tool(inline=True)
def recall(word: str) -> str:
    """Recall what is known of a word."""
    return noise(RESULT_CHARACTERS, word)


plain = Agent(
    name="plain", instructions="Answer.", model=SCRIPT, tools=[look_up, download, watch, pay, recall]
)
desk = Supervisor(
    "desk",
    {"orders": Agent(name="orders", instructions="Answer.", model=SCRIPT, tools=[recall])},
    default="orders",
    model=SCRIPT,
)
app = App(agents=[plain, desk], default="plain")
SPEC = f"{__name__}:app"
