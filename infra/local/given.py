"""An app given as an object, as `module:attribute`: the functions load their app by name, as on Lambda."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.agent import Agent
from core.app import App

_SCRIPT = "script:"
_kept: dict[str, App] = {}


def __getattr__(name: str) -> App:
    """The apps that no module holds are attributes of this one."""
    try:
        return _kept[name]
    except KeyError:
        raise AttributeError(name) from None


def spec_of(app: str | App | Agent) -> str:
    """`module:attribute` of an app. One that no module holds is kept here, scripts relative to the working folder."""
    if isinstance(app, str):
        return app
    holders = [
        (module_name, name)
        for module_name, module in list(sys.modules.items())
        for name, value in list(getattr(module, "__dict__", {}).items())
        if value is app
    ]
    if holders:
        module_name, name = min(holders, key=_from_a_test)
        return f"{module_name}:{name}"
    name = f"app_{len(_kept) + 1}"
    _kept[name] = _with_whole_paths(App.of(app))
    return f"{__name__}:{name}"


def _from_a_test(holder: tuple[str, str]) -> bool:
    """A test that imported the app lies elsewhere than the app and its scripts."""
    last = holder[0].rpartition(".")[2]
    return last.startswith(("test_", "conftest")) or last.endswith("_test")


def _with_whole_paths(app: App) -> App:
    def whole(agent: Agent) -> Agent:
        if not agent.model.startswith(_SCRIPT):
            return agent
        changed: dict[str, Any] = {
            "model": _SCRIPT + str(Path.cwd() / agent.model.removeprefix(_SCRIPT)),
            "tools": agent.tools,
        }
        return replace(agent, **changed)

    return replace(app, agents=tuple(whole(agent) for agent in app.agents))
