"""moto as an application, and the web server in front of it. Apart from `emulator.py`, which imports it when it starts:
worker processes import the package, and these take longer than all the rest of it.
"""

from collections.abc import Callable, Iterable
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

Wsgi = Callable[[dict[str, Any], Any], Iterable[bytes]]


class _Quiet(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:
        """Nothing: a turn makes dozens of requests."""


def moto_application() -> Wsgi:
    """Every service, loaded when first asked."""
    application: Wsgi = DomainDispatcherApplication(create_backend_app)
    return application


def make_local_server(application: Wsgi) -> BaseWSGIServer:
    """On loopback and a free port; it serves each connection in a thread of its own."""
    return make_server("127.0.0.1", 0, application, threaded=True, request_handler=_Quiet)
