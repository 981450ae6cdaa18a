"""The app of the test of a team on the local stack: two workers and a subscription, played by `team_app.json`."""

from core import Agent, App, ToolResult, tool


@tool(worker="research")
def look_up(word: str) -> str:
    """Look a word up."""
    return f"{word} is a word"


@tool(worker="writing")
async def note(text: str) -> dict[str, str]:
    """Write something down."""
    return {"noted": text}


@tool(worker="research")
def watch(place: str) -> ToolResult:
    """Watch a place; events come when something happens there."""
    return ToolResult(f"watching {place}", subscription=True)


agent = Agent(name="a", model="script:tests/functional/team_app.json", tools=[look_up, note, watch])
app = App(agents=[agent])
SPEC = f"{__name__}:app"
