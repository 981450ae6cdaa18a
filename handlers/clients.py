"""AWS clients, and those of other models, as the functions use them: explicit timeouts and retries.

boto3 and aioboto3 are imported when first used, so that a worker never imports the asynchronous one.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Self

from infra.library_models.apis import APIS, api_client

CONNECT_TIMEOUT_SECONDS = 2
READ_TIMEOUT_SECONDS = 5
"""Per request, of queues and tables. A model client needs its own."""
SYNC_ATTEMPTS = 3
"""boto3 tries again by itself: every request made with it may be repeated."""
ASYNC_ATTEMPTS = 1
"""The slice's own retries know how much time is left; the SDK's do not."""


@dataclass(frozen=True, slots=True)
class AwsAccess:
    """Where AWS is and who asks."""

    region: str | None = None
    """None: the SDK finds it, as it does everything here."""
    endpoint_url: str | None = None
    """Of the local stack, which takes any credentials."""

    @classmethod
    def of(cls, environ: Mapping[str, str], endpoint_url: str | None = None) -> Self:
        """Region from AWS_REGION or AWS_DEFAULT_REGION."""
        return cls(environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION"), endpoint_url)

    def of_models(self) -> "AwsAccess":
        """Who asks a model: the same. On the local stack, whose emulator has none, the person who started it."""
        return self if self.endpoint_url is None else AwsAccess.of(os.environ)

    def session_arguments(self) -> dict[str, Any]:
        """For `Session(...)` of boto3 and aioboto3."""
        local = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
        return {"region_name": self.region, **(local if self.endpoint_url else {})}

    def client_arguments(self) -> dict[str, Any]:
        """For `session.client(...)`. Over plain HTTP no certificates are read: it takes longer than all the rest."""
        plain = (self.endpoint_url or "").startswith("http://")
        return {"endpoint_url": self.endpoint_url, **({"verify": False} if plain else {})}


def sync_clients(access: AwsAccess, *services: str) -> tuple[Any, ...]:
    """One boto3 client per service, of a session of their own."""
    import boto3
    from botocore.config import Config
    from botocore.session import Session

    session = boto3.session.Session(
        botocore_session=_with_shared_data(Session()), **access.session_arguments()
    )
    config = Config(**_config(SYNC_ATTEMPTS))
    arguments = access.client_arguments()
    return tuple(session.client(service, config=config, **arguments) for service in services)


@dataclass(slots=True)
class AsyncClients:
    """The aioboto3 clients of one container, all in its one event loop."""

    access: AwsAccess
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _session: Any = None

    async def open(self, service: str, *, read_timeout_seconds: float = READ_TIMEOUT_SECONDS) -> Any:
        """A client that lives until `close`: of an AWS service, or of one of the other APIs that models have."""
        if service in APIS:
            return await self._stack.enter_async_context(api_client(service, read_timeout_seconds))
        import aioboto3
        from aiobotocore.session import AioSession
        from botocore.config import Config

        if self._session is None:
            shared = _with_shared_data(AioSession())
            self._session = aioboto3.Session(botocore_session=shared, **self.access.session_arguments())
        config = Config(**_config(ASYNC_ATTEMPTS) | {"read_timeout": read_timeout_seconds})
        client = self._session.client(service, config=config, **self.access.client_arguments())
        return await self._stack.enter_async_context(client)

    def lazily(self, access: AwsAccess, read_timeout_seconds: float) -> "LazyClients":
        """Clients of another access, closed with these."""
        others = AsyncClients(access)
        self._stack.push_async_callback(others.close)
        return LazyClients(others, read_timeout_seconds)

    def when_needed(self, service: str) -> Callable[[], Awaitable[Any]]:
        """Gives the client of that service, opened when first asked for: for what most slices do not use."""
        clients = LazyClients(self, READ_TIMEOUT_SECONDS)
        return lambda: clients.of(service)

    async def open_all(self, *services: str) -> tuple[Any, ...]:
        """One client per service."""
        seconds = READ_TIMEOUT_SECONDS
        return tuple([await self.open(service, read_timeout_seconds=seconds) for service in services])

    async def close(self) -> None:
        """Close all, newest first. A Lambda container never does."""
        await self._stack.aclose()


@dataclass(frozen=True, slots=True)
class LazyClients:
    """Clients opened when first asked for: a container that calls no model does not pay for a model's client."""

    clients: AsyncClients
    read_timeout_seconds: float
    _opened: dict[str, Any] = field(default_factory=dict)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def of(self, service: str) -> Any:
        """The client of that service: one, however many ask at once."""
        async with self._opening:
            if service not in self._opened:
                client = await self.clients.open(service, read_timeout_seconds=self.read_timeout_seconds)
                self._opened[service] = client
            return self._opened[service]


@cache
def _service_data() -> Any:
    """The SDK's service descriptions: read and parsed once per process, whatever the number of sessions."""
    from botocore.loaders import create_loader

    return create_loader()


def _with_shared_data(session: Any) -> Any:
    session.register_component("data_loader", _service_data())
    return session


def _config(attempts: int) -> dict[str, Any]:
    return {
        "connect_timeout": CONNECT_TIMEOUT_SECONDS,
        "read_timeout": READ_TIMEOUT_SECONDS,
        "retries": {"total_max_attempts": attempts, "mode": "standard"},
    }
