"""An app given as an object, as `module:attribute`: the functions load their app by name, as on Lambda."""

import sys
from pathlib import Path

from core.app import App
from core.supervisor import Player

_SCRIPT = "script:"
_kept: dict[str, App] = {}


def __getattr__(name: str) -> App:
    """The apps that no module holds are attributes of this one."""
    try:
        return _kept[name]
    except KeyError:
        raise AttributeError(name) from None


def spec_of(app: str | App | Player) -> str:
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


def model_of(spec: str, model: str | None) -> str | None:
    """The model for the app `spec`: for one that is kept here, a script's path is relative to the working folder."""
    if model is None or not spec.startswith(f"{__name__}:"):
        return model
    return _whole(model)


def _with_whole_paths(app: App) -> App:
    return app.with_models(_whole)


def _whole(model: str) -> str:
    path = model.removeprefix(_SCRIPT)
    return model if path == model else f"{_SCRIPT}{Path.cwd() / path}"
