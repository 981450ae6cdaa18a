"""An app whose agent sleeps when it is told to, played by `sleeper.json`."""

from core import Agent, App

MODEL = "script:tests/functional/sleeper.json"
app = App(agents=[Agent(name="sleeper", model=MODEL)])
SPEC = f"{__name__}:app"
