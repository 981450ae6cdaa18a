"""The app that `torpor ask` is tested with: no workers, and an answer that cites; played by `asked_app.json`."""

from core import Agent, App, ToolContext, tool


@tool(inline=True)
def find(word: str, ctx: ToolContext) -> str:
    """Find a word in a book."""
    ctx.add_source("https://books/1", f"On \x1b[31m{word}", "page 7")
    return f"{word} is on page 7"


agent = Agent(name="asked", model="script:tests/functional/asked_app.json", tools=[find])
app = App(agents=[agent])
SPEC = f"{__name__}:app"
