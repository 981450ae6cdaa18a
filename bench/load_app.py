"""The app under load: a worker's tool and a child thread, played by `load_app.json`."""

from core import Agent, App, tool


@tool(worker="web")
def look_up(word: str) -> str:
    """Look a word up."""
    return f"{word} is a word"


agent = Agent(name="loaded", instructions="Answer.", model="script:bench/load_app.json", tools=[look_up])
app = App(agents=[agent])
SPEC = f"{__name__}:app"
