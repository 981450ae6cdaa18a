"""`Supervisor`: several agents as one. Each user message is classified, and answered by the specialist it is for.

The specialists share the thread: one history, one state, one credit. `core/slice/routing.py` makes the classification.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from types import MappingProxyType
from typing import Union

from core.agent import Agent, check_model
from core.checks import check_positive_integer
from core.errors import DefinitionError
from core.message_template import check_template
from core.recap import recap
from core.settings import Settings
from core.tools.names import check_agent_name, check_route_name

__all__ = ["Player", "Supervisor", "recap"]

Player = Union[Agent, "Supervisor"]
"""What can play a thread."""


@dataclass(frozen=True)
class Supervisor:
    """Usable wherever an agent is. Raises DefinitionError, naming the supervisor and what is wrong."""

    name: str
    """1–64 of `A-Za-z0-9_-`, unique in its app."""
    routes: Mapping[str, Player] = field(hash=False)
    """Who may answer, by a name of the same alphabet. Agents of one `state_type`: they share the thread's state."""
    window: int = 6
    """How many messages before the new one a classification sees. Default 6."""
    default: str | None = None
    """The route where a classification names none that there is. Default None: the first."""
    _: KW_ONLY
    model: str = ""
    """`provider:model` that classifies. Default: that of the default route."""
    instructions: str = ""
    """What the classifying model should know beside the routes. Default: nothing."""
    settings: Settings = field(default_factory=lambda: Settings(max_output_tokens=1_024))
    """Of the classifying model. Default: 1,024 tokens of output, else those of any agent."""
    with_summary: bool = True
    """Whether the summary of a long conversation precedes the window. Default True."""
    message_template: str | None = None
    """As `Agent.message_template`, for what a classification sees. Default None: that of the default route."""

    def __post_init__(self) -> None:
        check_agent_name(self.name)
        owner = f"supervisor {self.name!r}"
        routes = _routes(owner, self.routes)
        check_positive_integer(owner, "window", self.window)
        default = next(iter(routes)) if self.default is None else self.default
        if default not in routes:
            raise DefinitionError(f"{owner}: default {default!r} is no route; there are: {', '.join(routes)}")
        _check_kinds(owner, self)
        template = (
            routes[default].message_template if self.message_template is None else self.message_template
        )
        if template is not None:
            check_template(owner, template)
        model = self.model if self.model != "" else routes[default].model
        check_model(owner, model)
        for name, value in {
            "routes": MappingProxyType(routes),
            "default": default,
            "model": model,
            "message_template": template,
        }.items():
            object.__setattr__(self, name, value)

    def at(self, route: str | None) -> Agent:
        """Who answers on `route` (as `Route.name` writes it); the default's, where a deployment took that away."""
        first, _, rest = (route or "").partition("/")
        player = self.routes.get(first) or self.routes[str(self.default)]
        return player.at(rest) if isinstance(player, Supervisor) else player

    def leads(self, route: str) -> bool:
        """Whether a route (as `Route.name` writes it) leads to an agent, and not only the default does."""
        first, _, rest = route.partition("/")
        player = self.routes.get(first)
        return player.leads(rest) if isinstance(player, Supervisor) else player is not None and not rest


def least_credit(player: Player) -> int:
    """Tokens that one answer where `player` plays may write, those that choose who gives it included."""
    own = player.settings.max_output_tokens
    return own if isinstance(player, Agent) else own + max(map(least_credit, player.routes.values()))


def specialists(player: Player) -> Iterator[Agent]:
    """Every agent that may answer where `player` plays, each once for each way to it."""
    if isinstance(player, Agent):
        yield player
        return
    for one in player.routes.values():
        yield from specialists(one)


def players(player: Player) -> Iterator[Player]:
    """`player`, and all that it routes to."""
    yield player
    if isinstance(player, Supervisor):
        for one in player.routes.values():
            yield from players(one)


def with_models(player: Player, change: Callable[[str], str], changed: dict[int, Player]) -> Player:
    """The same player with every model as `change` makes it (`provider:model`). Raises DefinitionError.

    `changed`: by id of the old one, what was changed already, so that one agent in two places stays one.
    """
    if id(player) not in changed:
        model = change(player.model)
        if isinstance(player, Agent):
            changed[id(player)] = replace(player, model=model)
        else:
            routes = {name: with_models(one, change, changed) for name, one in player.routes.items()}
            changed[id(player)] = replace(player, routes=routes, model=model)
    return changed[id(player)]


def _routes(owner: str, routes: object) -> dict[str, Player]:
    if not isinstance(routes, Mapping) or not routes:
        raise DefinitionError(f"{owner}: routes must be a dict of at least one name and its agent")
    for name, player in routes.items():
        check_route_name(name)
        if not isinstance(player, Agent | Supervisor):
            raise DefinitionError(
                f"{owner}: route {name!r} leads to {type(player).__name__}, not to an Agent"
            )
    folded = [name.casefold() for name in routes]
    if len(set(folded)) != len(folded):
        raise DefinitionError(f"{owner}: two routes differ only in case: {', '.join(routes)}")
    return dict(routes)


def _check_kinds(owner: str, supervisor: Supervisor) -> None:
    for name, kind in (("instructions", str), ("settings", Settings), ("with_summary", bool), ("model", str)):
        if not isinstance(getattr(supervisor, name), kind):
            raise DefinitionError(f"{owner}: {name} must be {kind.__name__}")
    if len({id(agent.state_type) for agent in specialists(supervisor)}) > 1:
        raise DefinitionError(
            f"{owner}: its agents must have one state_type, or none: they share the state of the thread"
        )
