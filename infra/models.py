"""From a model's name, `provider:model`, to the adapter that plays it. A new provider is one more row of the table."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from core.clock import Clock
from core.errors import DefinitionError
from core.ports import Model

Make = Callable[[str, Path, Clock], Model]
"""From what follows the colon, the application's root and the clock."""


def _scripted(path: str, root: Path, clock: Clock) -> Model:
    from infra.scripted.model import ScriptedModel
    from infra.scripted.script import load_script

    return ScriptedModel(load_script(root / path), clock)


PROVIDERS: Mapping[str, Make] = {"script": _scripted}


def model_for(name: str, root: Path, clock: Clock) -> Model:
    """The model of that name. Cheap to ask again: what is read is kept.

    `root` is the application's: a script's path is relative to it, unless absolute. Raises DefinitionError for a
    provider that this version cannot call, and for a script that is missing or wrong.
    """
    provider, _, rest = name.partition(":")
    make = PROVIDERS.get(provider)
    if make is None or not rest:
        forms = ", ".join(f"{known}:…" for known in PROVIDERS)
        raise DefinitionError(f"model {name!r}: this version can call {forms}, given as provider:model")
    return make(rest, root, clock)


def app_root(spec: str) -> Path:
    """The application's root: the folder that holds the top-level module or package of `module:attribute`.

    The module must be imported already.
    """
    top = sys.modules[spec.partition(":")[0].partition(".")[0]]
    where = Path(top.__file__) if top.__file__ else Path(next(iter(top.__path__)), "__init__.py")
    return where.parent.parent if hasattr(top, "__path__") else where.parent
