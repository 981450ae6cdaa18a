"""Asking a loopback API of another provider as a function asks it: the adapter, over the client a container opens."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.clock import SYSTEM_CLOCK
from core.ports import Model
from handlers.clients import AsyncClients, AwsAccess
from infra.models import model_for
from tests.wire.api_servers import AnthropicServer
from tests.wire.asking import ENOUGH_SECONDS
from tests.wire.server import WireServer

OPENAI, ANTHROPIC = "openai:local-model", "anthropic:claude-opus-5"


@asynccontextmanager
async def asking_api(server: WireServer, name: str = "") -> AsyncIterator[Model]:
    """The model of that name, at the server that the environment names."""
    messages = isinstance(server, AnthropicServer)
    clients = AsyncClients(AwsAccess())
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("ANTHROPIC_BASE_URL", server.url)
        environ.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        client_of = clients.lazily(AwsAccess(), ENOUGH_SECONDS).of
        try:
            yield model_for(name or (ANTHROPIC if messages else OPENAI), Path(), SYSTEM_CLOCK, client_of)
        finally:
            await clients.close()
