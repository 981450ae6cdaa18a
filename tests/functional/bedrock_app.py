"""An app whose model is a real one, which nobody has while tests run."""

from core import Agent, App

app = App(agents=[Agent(name="a", model="bedrock:some-model", builtin_tools=False)])
