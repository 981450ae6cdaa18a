"""The AWS emulator that contract tests run against: on loopback, on a free port, one per test session.

One request at a time: the emulator looks at a condition and writes in two steps, and two requests at once could both
find a key free, which DynamoDB never allows.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock, Thread
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server


class _Quiet(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:
        """Nothing: a test session makes thousands of requests."""


class _OneAtATime:
    def __init__(self) -> None:
        self._app: Any = DomainDispatcherApplication(create_backend_app)
        self._lock = Lock()

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        with self._lock:
            answer: Iterable[bytes] = self._app(environ, start_response)
            return answer


@contextmanager
def running_emulator() -> Iterator[str]:
    """Its endpoint URL."""
    server = make_server("127.0.0.1", 0, _OneAtATime(), threaded=True, request_handler=_Quiet)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
