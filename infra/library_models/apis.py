"""Which APIs the extra can ask, and the clients that ask them. Imports the libraries only to open a client.

Keys and addresses come from the environment, under the names that each provider's own tools use.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import urlsplit

from core.errors import DefinitionError

LIBRARY: Final = "pydantic_ai"
CONNECT_TIMEOUT_SECONDS: Final = 5.0
NO_KEY: Final = "none"
"""Sent to a server of one's own that asks for no key."""


@dataclass(frozen=True, slots=True)
class Api:
    """How an API is reached: names of environment variables, and the host where they name none."""

    key: str
    base_url: str
    host: str


APIS: Final[Mapping[str, Api]] = {
    "anthropic": Api("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "api.anthropic.com"),
    "openai": Api("OPENAI_API_KEY", "OPENAI_BASE_URL", "api.openai.com"),
}


def check_api(provider: str) -> None:
    """Raises DefinitionError, saying what to do, if the extra is not installed or nobody says in whose name to ask."""
    if find_spec(LIBRARY) is None or find_spec(provider) is None:
        raise DefinitionError(f"{provider}: models need an extra: pip install 'torpor[models]'")
    api = APIS[provider]
    if not os.environ.get(api.key) and not os.environ.get(api.base_url):
        raise DefinitionError(
            f"{provider}: models need {api.key}, or {api.base_url} for a server that speaks the same API"
        )


def is_own_server(provider: str) -> bool:
    """Whether the environment names another server than the provider's."""
    base_url = os.environ.get(APIS[provider].base_url)
    return bool(base_url) and urlsplit(base_url).hostname != APIS[provider].host


def api_client(provider: str, read_timeout_seconds: float) -> Any:
    """The provider's own client: an asynchronous context manager, which makes no retries of its own.

    Over plain HTTP no certificates are read: it takes longer than all the rest.
    """
    import httpx2

    api = APIS[provider]
    plain = os.environ.get(api.base_url, "").startswith("http://")
    options: dict[str, Any] = {
        "api_key": os.environ.get(api.key) or NO_KEY,
        "timeout": httpx2.Timeout(read_timeout_seconds, connect=CONNECT_TIMEOUT_SECONDS),
        "max_retries": 0,
    }
    if provider == "anthropic":
        import anthropic

        return anthropic.AsyncAnthropic(
            http_client=anthropic.DefaultAsyncHttpxClient(verify=not plain), **options
        )
    import openai

    return openai.AsyncOpenAI(http_client=openai.DefaultAsyncHttpxClient(verify=not plain), **options)
