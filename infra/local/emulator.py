"""`Emulator`: moto's AWS on 127.0.0.1, behind a gate that gives it what it lacks (platform.md, "moto").

One request at a time in the whole process: moto looks at a condition and writes in two steps, and its backends are
shared by every server of a process.
"""

from collections.abc import Iterable
from io import BytesIO
from select import select
from socket import MSG_PEEK, socket
from threading import Lock, Thread
from typing import Any

from core.clock import Clock
from infra.local.arrivals import Arrivals
from infra.local.gate import Answer, SqsGate

_LOCK = Lock()
_SQS = "AmazonSQS."


class Emulator:
    """A server that runs until it is closed. Two of them see the same resources: give those names of their own."""

    def __init__(self, clock: Clock) -> None:
        self.arrivals = Arrivals()
        self.gate = SqsGate(clock, self.arrivals)
        from infra.local.server import make_local_server, moto_application

        self._moto = moto_application()
        self._server = make_local_server(self._answer)
        self._thread = Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, name="torpor-aws", daemon=True
        )
        self._thread.start()

    @property
    def endpoint_url(self) -> str:
        """For any AWS client."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Answer nobody any more."""
        self.arrivals.close()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _answer(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        target: str = environ.get("HTTP_X_AMZ_TARGET", "")
        if target.startswith(_SQS):
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))

            def ask(changed: bytes) -> Answer:
                return self._ask_moto(
                    {**environ, "wsgi.input": BytesIO(changed), "CONTENT_LENGTH": str(len(changed))}
                )

            connection: socket = environ["werkzeug.socket"]
            answer = self.gate.handle(target.removeprefix(_SQS), body, ask, lambda: _is_open(connection))
        else:
            answer = self._ask_moto(environ)
        start_response(answer.status, answer.headers)
        return [answer.body]

    def _ask_moto(self, environ: dict[str, Any]) -> Answer:
        head: list[Any] = []

        def start_response(status: str, headers: list[tuple[str, str]], _: Any = None) -> None:
            head.extend((status, headers))

        with _LOCK:
            chunks = list(self._moto(environ, start_response))
        return Answer(head[0], head[1], b"".join(chunks))


def _is_open(connection: socket) -> bool:
    """Whether the other side has not hung up. It is silent while it waits for an answer."""
    readable, _, _ = select([connection], [], [], 0)
    return not readable or bool(connection.recv(1, MSG_PEEK))
