"""`App`: the agents one deployment serves, and the workers their tools run on. Loaded by `module:attribute`."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.agent import Agent
from core.errors import DefinitionError
from core.tools.definition import Tool


@dataclass(frozen=True)
class App:
    """A set of agents. Raises DefinitionError."""

    agents: Sequence[Agent]
    """At least one, each name once."""
    default: str | None = None
    """The agent of a thread that names none, or one that is gone. Default None: the first."""

    def __post_init__(self) -> None:
        if not (isinstance(self.agents, list | tuple) and self.agents):
            raise DefinitionError("app: agents must be a list of at least one Agent")
        for agent in self.agents:
            if not isinstance(agent, Agent):
                raise DefinitionError(f"app: {agent!r} is not an Agent")
        object.__setattr__(self, "agents", tuple(self.agents))
        names = [agent.name for agent in self.agents]
        if twice := {name for name in names if names.count(name) > 1}:
            raise DefinitionError(f"app: two agents are named {', '.join(map(repr, sorted(twice)))}")
        if self.default is not None and self.default not in names:
            raise DefinitionError(
                f"app: the default agent {self.default!r} is not one of: {', '.join(names)}"
            )
        self.workers()

    @classmethod
    def of(cls, value: object) -> "App":
        """The app itself, or the app of a single agent. Raises DefinitionError for anything else."""
        match value:
            case App():
                return value
            case Agent():
                return cls(agents=(value,))
            case _:
                raise DefinitionError(f"an app is an App or an Agent, not {type(value).__name__}")

    def agent(self, name: str | None = None) -> Agent:
        """The agent of that name; the default for None, and for a name that a deployment has taken away."""
        by_name = {agent.name: agent for agent in self.agents}
        return by_name.get(name or "") or by_name.get(self.default or "") or self.agents[0]

    def workers(self) -> dict[str, dict[str, Tool]]:
        """By worker, its tools by name, over all agents.

        Raises DefinitionError if two different tools of a worker share a name: a call carries nothing else.
        """
        found: dict[str, dict[str, Tool]] = {}
        for agent in self.agents:
            for name, tool in agent.toolbox.items():
                if tool.worker is None:
                    continue
                if found.setdefault(tool.worker, {}).setdefault(name, tool) != tool:
                    raise DefinitionError(
                        f"app: worker {tool.worker!r} has two different tools named {name!r}"
                    )
        return found

    def with_model(self, model: str) -> "App":
        """The same app with every agent on `model` (`provider:model`). Raises DefinitionError."""
        return replace(self, agents=tuple(replace(agent, model=model) for agent in self.agents))


def load_app(spec: str) -> App:
    """The app that `module:attribute` names, imported. Raises DefinitionError saying which part is missing or wrong.

    What the module itself raises while it is imported passes through, but for a library that is not installed.
    """
    module_name, colon, attribute = spec.partition(":")
    if not (module_name and colon and attribute):
        raise DefinitionError(f"app {spec!r}: write module:attribute, such as 'examples.research:app'")
    module = _import(spec, module_name)
    try:
        value = getattr(module, attribute)
    except AttributeError as exc:
        raise DefinitionError(f"app {spec!r}: module {module_name!r} has no attribute {attribute!r}") from exc
    try:
        return App.of(value)
    except DefinitionError as exc:
        raise DefinitionError(f"app {spec!r}: {exc}") from exc


def _import(spec: str, module_name: str) -> object:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as exc:
        missing = exc.name or module_name
        if f"{module_name}.".startswith(f"{missing}."):
            raise DefinitionError(f"app {spec!r}: there is no module {missing!r} on the Python path") from exc
        raise DefinitionError(
            f"app {spec!r}: importing it needs {missing!r}, which is not installed here; tools import heavy libraries "
            f"inside the function, because the agent function imports the app too"
        ) from exc
