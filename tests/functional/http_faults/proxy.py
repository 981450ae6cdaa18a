"""An HTTP proxy between the functions' AWS clients and the emulator, which lets requests fail as networks and AWS do.

On loopback, in threads. A reset is one (RST), an answer that comes too late waits as long as its client does.
"""

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from select import select
from socket import SO_LINGER, SOL_SOCKET
from threading import Thread
from typing import assert_never
from urllib.parse import urlsplit

from .asked import Answered, Asked
from .faults import Fault, Plan
from .parts import in_part
from .refusals import BROKEN, THROTTLED, UNAVAILABLE

PATIENCE_SECONDS = 30
"""Longer than any client waits."""
_HOP_BY_HOP = frozenset({"connection", "content-length", "transfer-encoding", "keep-alive", "date", "server"})


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    plan: Plan
    upstream: str

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients hang up in the middle of a request: that is what is tested."""


class _Connection(BaseHTTPRequestHandler):
    """One client's connection, and one to the emulator behind it."""

    protocol_version = "HTTP/1.1"
    server: _Server
    upstream: HTTPConnection | None = None

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a run makes dozens of requests."""

    def pass_on(self) -> None:
        """Take one request."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Asked(self.command, self.path, dict(self.headers.items()), body)
        fault = self.server.plan.meets(request)
        if fault is None:
            self._answer(self._ask(request))
        else:
            self._fail(fault, request)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = pass_on

    def finish(self) -> None:
        """As the base class, and the emulator's connection with it."""
        super().finish()
        if self.upstream is not None:
            self.upstream.close()

    def _fail(self, fault: Fault, request: Asked) -> None:
        match fault:
            case Fault.RESET_BEFORE:
                self._reset()
            case Fault.RESET_AFTER:
                self._ask(request)
                self._reset()
            case Fault.CUT_OFF:
                whole = _written(self._ask(request))
                self.connection.sendall(whole[: len(whole) - 3])
                self._reset()
            case Fault.BROKEN:
                self._answer(BROKEN[request.service])
            case Fault.BROKEN_AFTER:
                self._ask(request)
                self._answer(BROKEN[request.service])
            case Fault.UNAVAILABLE:
                self._answer(UNAVAILABLE)
            case Fault.THROTTLED:
                self._answer(THROTTLED[request.service])
            case Fault.IN_PART:
                self._answer(in_part(request, self._ask))
            case Fault.SLOW:
                self._ask(request)
                select([self.connection], [], [], PATIENCE_SECONDS)  # readable: the client has hung up
                self.close_connection = True
            case never:
                assert_never(never)

    def _ask(self, request: Asked) -> Answered:
        """The emulator's answer. It may have closed a connection that was idle: then another one is opened."""
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP_BY_HOP}
        while True:
            kept, self.upstream = self.upstream, None
            connection = kept or HTTPConnection(self.server.upstream)
            try:
                connection.request(request.method, request.path, request.body, headers)
                response = connection.getresponse()
            except (HTTPException, OSError):
                if kept is None:
                    raise
                continue
            self.upstream = connection
            return Answered(response.status, dict(response.getheaders()), response.read())

    def _answer(self, answer: Answered) -> None:
        self.connection.sendall(_written(answer))

    def _reset(self) -> None:
        """The connection ends at once, by an RST."""
        self.connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())
        self.close_connection = True


def _written(answer: Answered) -> bytes:
    """As it goes over the line: in one piece."""
    kept = {name: value for name, value in answer.headers.items() if name.lower() not in _HOP_BY_HOP}
    lines = [f"HTTP/1.1 {answer.status} -", *(f"{name}: {value}" for name, value in kept.items())]
    head = "\r\n".join([*lines, f"Content-Length: {len(answer.body)}", "", ""])
    return head.encode("latin-1") + answer.body


@contextmanager
def proxy_to(endpoint_url: str, plan: Plan) -> Iterator[str]:
    """A proxy for the emulator at `endpoint_url`; its own URL."""
    server = _Server(("127.0.0.1", 0), _Connection)
    server.plan, server.upstream = plan, urlsplit(endpoint_url).netloc
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
