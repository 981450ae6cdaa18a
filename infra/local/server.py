"""moto as an application, and the web server in front of it. Apart from `emulator.py`, which imports it when it starts:
worker processes import the package, and these take longer than all the rest of it.
"""

from collections.abc import Callable, Iterable
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

Wsgi = Callable[[dict[str, Any], Any], Iterable[bytes]]


class _Moto(DomainDispatcherApplication):
    """Remembers which service a host stands for: moto lists its own folder for each request, a quarter of its time."""

    def __init__(self) -> None:
        super().__init__(create_backend_app)
        self._known: dict[str | None, Any] = {}

    def get_backend_for_host(self, host: str | None) -> Any:
        """As moto finds it."""
        if host not in self._known:
            self._known[host] = super().get_backend_for_host(host)
        return self._known[host]


class _Quiet(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:
        """Nothing: a turn makes dozens of requests."""


def moto_application() -> Wsgi:
    """Every service, loaded when first asked."""
    application: Wsgi = _Moto()
    return application


def make_local_server(application: Wsgi) -> BaseWSGIServer:
    """On loopback and a free port; it serves each connection in a thread of its own."""
    return make_server("127.0.0.1", 0, application, threaded=True, request_handler=_Quiet)
