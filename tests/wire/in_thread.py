"""The wire server in a thread with an event loop of its own, for clients that block or have a loop elsewhere."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

from tests.wire.server import ConverseServer, WireServer
from tests.wire.steps import Answer


@contextmanager
def served(*answers: Answer, serves: Callable[..., WireServer] = ConverseServer) -> Iterator[WireServer]:
    """A server that runs by itself. Its requests may be read at any time."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="wire-server", daemon=True)
    thread.start()
    try:
        server = serves(*answers)
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
        yield server
        asyncio.run_coroutine_threadsafe(server.__aexit__(None), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
