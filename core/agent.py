"""`Agent`: instructions, a model and tools, as one frozen value that is checked when it is defined."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, get_args

from core.errors import DefinitionError
from core.message_template import check_template
from core.settings import Limits, Settings
from core.state.shape import check_state_type
from core.tools.builtin import builtin_tools
from core.tools.decorator import ToolFunction
from core.tools.definition import Tool
from core.tools.names import BUILTIN_TOOL_NAMES, check_agent_name

OnBusy = Literal["interrupt", "queue"]

_MODEL = re.compile(r"[a-z][a-z0-9_-]*:\S.*")


@dataclass(frozen=True, kw_only=True)
class Agent:
    """What a thread is played by. Raises DefinitionError, naming the agent and what is wrong.

    An agent holds nothing of any thread: one object serves them all.
    """

    name: str
    """1–64 of `A-Za-z0-9_-`, unique in its app."""
    model: str
    """`provider:model`, such as `bedrock:…` or `script:path.json`."""
    instructions: str = ""
    """The system prompt. Default: none."""
    tools: Sequence[ToolFunction[..., Any] | Tool] = ()
    """Functions decorated with `@tool`, in the order the model is told of them."""
    settings: Settings = Settings()
    limits: Limits = Limits()
    history_processors: Sequence[Callable[..., Any]] = ()
    """Applied in order to the messages a model is shown; what is stored does not change. Default: none, everything is
    shown that no summary covers."""
    state_type: type[Any] | None = None
    """The pydantic model or dataclass of the thread's state, every field with a default. Default None: a plain dict."""
    on_busy: OnBusy = "interrupt"
    """What user text does while calls are live, unless the message says: answer them as interrupted, or wait."""
    message_template: str | None = None
    """How the model is shown a user message that brought metadata, such as `"[{user_id}] {content}"`: with `{content}`
    once, and the message's own metadata by key. Default None: as it was said."""
    builtin_tools: bool | Sequence[str] = True
    """Which built-in tools are offered: all (the default), none, or those named."""
    toolbox: Mapping[str, Tool] = field(init=False, repr=False, compare=False)
    """The definitions of `tools` by name, in their order."""
    offered: Mapping[str, Tool] = field(init=False, repr=False, compare=False)
    """What the model may call: the toolbox, then the built-in tools."""

    def __post_init__(self) -> None:
        check_agent_name(self.name)
        owner = f"agent {self.name!r}"
        _check_kind(owner, "instructions", self.instructions, str)
        check_model(owner, self.model)
        _check_kind(owner, "settings", self.settings, Settings)
        _check_kind(owner, "limits", self.limits, Limits)
        if self.on_busy not in get_args(OnBusy):
            raise DefinitionError(f"{owner}: on_busy must be one of {get_args(OnBusy)}, not {self.on_busy!r}")
        if not (self.state_type is None or isinstance(self.state_type, type)):
            raise DefinitionError(f"{owner}: state_type must be a class, not {self.state_type!r}")
        if self.state_type is not None:
            check_state_type(owner, self.state_type)
        if self.message_template is not None:
            check_template(owner, self.message_template)
        toolbox = _toolbox(owner, self.tools)
        builtin = _builtin_tools(owner, self.builtin_tools)
        for name, value in {
            "tools": tuple(self.tools),
            "toolbox": MappingProxyType(toolbox),
            "offered": MappingProxyType(toolbox | _offered(builtin)),
            "history_processors": _processors(owner, self.history_processors),
            "builtin_tools": builtin,
        }.items():
            object.__setattr__(self, name, value)

    @property
    def builtin_tool_names(self) -> tuple[str, ...]:
        """The built-in tools this agent is offered."""
        match self.builtin_tools:
            case bool(all_of_them):
                return BUILTIN_TOOL_NAMES if all_of_them else ()
            case names:
                return tuple(names)


def check_model(owner: str, model: object) -> None:
    """Raises DefinitionError unless `model` is `provider:model`."""
    if not (isinstance(model, str) and _MODEL.fullmatch(model)):
        raise DefinitionError(f"{owner}: model must be 'provider:model', such as 'bedrock:…', not {model!r}")


def _check_kind(owner: str, name: str, value: object, kind: type[Any]) -> None:
    if not isinstance(value, kind):
        raise DefinitionError(f"{owner}: {name} must be {kind.__name__}, not {type(value).__name__}")


def _toolbox(owner: str, tools: object) -> dict[str, Tool]:
    toolbox: dict[str, Tool] = {}
    for item in _items(owner, "tools", tools):
        definition = item if isinstance(item, Tool) else getattr(item, "tool", None)
        if not isinstance(definition, Tool):
            raise DefinitionError(f"{owner}: {_called(item)} is not a tool: decorate it with @tool")
        if definition.name in toolbox:
            raise DefinitionError(f"{owner}: two tools are named {definition.name!r}")
        toolbox[definition.name] = definition
    return toolbox


def _processors(owner: str, processors: object) -> tuple[Callable[..., Any], ...]:
    found = _items(owner, "history_processors", processors)
    for item in found:
        if not callable(item):
            raise DefinitionError(f"{owner}: history processor {_called(item)} is not callable")
    return found


def _builtin_tools(owner: str, choice: object) -> bool | tuple[str, ...]:
    if isinstance(choice, bool):
        return choice
    names = _items(owner, "builtin_tools", choice)
    for name in names:
        if name not in BUILTIN_TOOL_NAMES:
            raise DefinitionError(
                f"{owner}: no built-in tool {name!r}; there are: {', '.join(BUILTIN_TOOL_NAMES)}"
            )
    if len(set(names)) != len(names):
        raise DefinitionError(f"{owner}: builtin_tools names one twice")
    return names


def _offered(choice: bool | tuple[str, ...]) -> dict[str, Tool]:
    there = builtin_tools()
    names = (tuple(there) if choice else ()) if isinstance(choice, bool) else choice
    return {name: there[name] for name in names if name in there}


def _items(owner: str, name: str, value: object) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise DefinitionError(f"{owner}: {name} must be a list, not {type(value).__name__}")
    return tuple(value)


def _called(item: object) -> str:
    return repr(getattr(item, "__name__", item))
