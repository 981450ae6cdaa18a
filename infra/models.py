"""From a model's name, `provider:model`, to the adapter that plays it. A new provider is one more row of the table."""

import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from core.clock import Clock
from core.errors import DefinitionError, MisuseError
from core.ports import Model

ClientOf = Callable[[str], Awaitable[Any]]
"""The client of an AWS service or of another provider's API, opened when first asked for, kept by whoever gives it."""
Make = Callable[[str, Path, Clock, ClientOf], Model]
"""From what follows the colon, the application's root, the clock and the clients."""


async def no_clients(service: str) -> Any:
    """For those who only want to know whether a model can be had."""
    raise MisuseError(f"this model was made without clients, and needs one of {service}")


def _bedrock(model_id: str, _root: Path, _clock: Clock, client_of: ClientOf) -> Model:
    from infra.bedrock.model import SERVICE, BedrockModel

    return BedrockModel(model_id, lambda: client_of(SERVICE))


def _of_library(provider: str) -> Make:
    def make(name: str, _root: Path, _clock: Clock, client_of: ClientOf) -> Model:
        from infra.library_models.apis import check_api

        check_api(provider)
        from infra.library_models.model import LibraryModel

        return LibraryModel(provider, name, lambda: client_of(provider))

    return make


def _scripted(path: str, root: Path, clock: Clock, _client_of: ClientOf) -> Model:
    from infra.scripted.model import ScriptedModel
    from infra.scripted.script import load_script

    return ScriptedModel(load_script(root / path), clock)


PROVIDERS: Mapping[str, Make] = {
    "bedrock": _bedrock,
    "script": _scripted,
    "anthropic": _of_library("anthropic"),
    "openai": _of_library("openai"),
}
"""The last two need the extra `models`, and import nothing of it before one is asked for."""


def model_for(name: str, root: Path, clock: Clock, client_of: ClientOf = no_clients) -> Model:
    """The model of that name. Cheap to ask again: what is read is kept. Nobody is called before it streams.

    `root` is the application's: a script's path is relative to it, unless absolute. Raises DefinitionError for a
    provider that this version cannot call or that lacks what it needs, and for a script that is missing or wrong.
    """
    provider, _, rest = name.partition(":")
    make = PROVIDERS.get(provider)
    if make is None or not rest:
        forms = ", ".join(f"{known}:…" for known in PROVIDERS)
        raise DefinitionError(f"model {name!r}: this version can call {forms}, given as provider:model")
    return make(rest, root, clock, client_of)


def app_root(spec: str) -> Path:
    """The application's root: the folder that holds the top-level module or package of `module:attribute`.

    The module must be imported already.
    """
    top = sys.modules[spec.partition(":")[0].partition(".")[0]]
    where = Path(top.__file__) if top.__file__ else Path(next(iter(top.__path__)), "__init__.py")
    return where.parent.parent if hasattr(top, "__path__") else where.parent
