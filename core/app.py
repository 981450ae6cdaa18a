"""`App`: the agents one deployment serves, and the workers their tools run on. Loaded by `module:attribute`."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from core.agent import Agent, check_model
from core.errors import DefinitionError
from core.prices import Price, Prices
from core.supervisor import Player, Supervisor, players, with_models
from core.tools.definition import Tool


@dataclass(frozen=True)
class App:
    """A set of agents. Raises DefinitionError."""

    agents: Sequence[Player]
    """At least one, each name once; agents and supervisors."""
    default: str | None = None
    """The agent of a thread that names none, or one that is gone. Default None: the first."""
    prices: Prices = field(default_factory=dict, hash=False)
    """Of models, by `provider:model`, for the estimate of costs. Default: none, nothing is estimated."""

    def __post_init__(self) -> None:
        if not (isinstance(self.agents, list | tuple) and self.agents):
            raise DefinitionError("app: agents must be a list of at least one Agent")
        for agent in self.agents:
            if not isinstance(agent, Agent | Supervisor):
                raise DefinitionError(f"app: {agent!r} is not an Agent")
        object.__setattr__(self, "agents", tuple(self.agents))
        names = [player.name for player in self._players()]
        if twice := {name for name in names if names.count(name) > 1}:
            raise DefinitionError(f"app: two agents are named {', '.join(map(repr, sorted(twice)))}")
        if self.default is not None and self.default not in names:
            raise DefinitionError(
                f"app: the default agent {self.default!r} is not one of: {', '.join(names)}"
            )
        for model, price in self.prices.items():
            check_model("app: prices", model)
            if not isinstance(price, Price):
                raise DefinitionError(
                    f"app: the price of {model!r} must be a Price, not {type(price).__name__}"
                )
        self.workers()

    @classmethod
    def of(cls, value: object) -> "App":
        """The app itself, or the app of a single agent or supervisor. Raises DefinitionError for anything else."""
        match value:
            case App():
                return value
            case Agent() | Supervisor():
                return cls(agents=(value,))
            case _:
                raise DefinitionError(f"an app is an App or an Agent, not {type(value).__name__}")

    @property
    def by_name(self) -> dict[str, Player]:
        """All that can be asked for by name: the agents, and those that supervisors among them route to."""
        return {player.name: player for player in self._players()}

    def player(self, name: str | None = None) -> Player:
        """The one of that name; the default for None, and for a name that a deployment has taken away."""
        by_name = self.by_name
        return by_name.get(name or "") or by_name.get(self.default or "") or self.agents[0]

    def agent(self, name: str | None = None, route: str | None = None) -> Agent:
        """Who answers where `player(name)` plays: of a supervisor, the agent at `route`."""
        player = self.player(name)
        return player.at(route) if isinstance(player, Supervisor) else player

    def _players(self) -> list[Player]:
        """Each once, those of `agents` first."""
        below = (one for player in self.agents for one in players(player))
        return list({id(player): player for player in (*self.agents, *below)}.values())

    def workers(self) -> dict[str, dict[str, Tool]]:
        """By worker, its tools by name, over all agents.

        Raises DefinitionError if two different tools of a worker share a name: a call carries nothing else.
        """
        found: dict[str, dict[str, Tool]] = {}
        for agent in (player for player in self._players() if isinstance(player, Agent)):
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
        return self.with_models(lambda _: model)

    def with_models(self, change: Callable[[str], str]) -> "App":
        """The same app with every model as `change` makes it. Raises DefinitionError."""
        changed = dict[int, Player]()
        return replace(self, agents=tuple(with_models(player, change, changed) for player in self.agents))


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
