"""The app that the tests of the local stack run: two workers and an inline tool, played by `local_app.json`."""

from core import Agent, App, tool

RUNS: list[str] = []
"""Words looked up, in this process."""


@tool(worker="research")
def look_up(word: str) -> str:
    """Look a word up."""
    RUNS.append(word)
    return f"{word} is a word"


@tool(worker="writing")
async def note(text: str) -> dict[str, str]:
    """Write something down."""
    return {"noted": text}


@tool
def add(left: int, right: int) -> str:
    """Add two numbers."""
    return str(left + right)


agent = Agent(name="a", model="script:tests/functional/local_app.json", tools=[look_up, note, add])
app = App(agents=[agent])
SPEC = f"{__name__}:app"
