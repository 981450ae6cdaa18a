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
from urllib.parse import parse_qs

from core.clock import Clock
from infra.local.arrivals import Arrivals
from infra.local.formation import FormationGate
from infra.local.gate import Answer, SqsGate
from infra.local.schedules import ScheduleGate

_LOCK = Lock()
_SQS = "AmazonSQS."
_FORMATION = "/cloudformation/aws4_request"
_SCHEDULER, _SCHEDULES = "/scheduler/aws4_request", "/schedules/"
"""Who is asked, as requests are signed for it, and what about, as a path."""


class Emulator:
    """A server that runs until it is closed. Two of them see the same resources: give those names of their own."""

    def __init__(self, clock: Clock) -> None:
        self.arrivals = Arrivals()
        self.gate = SqsGate(clock, self.arrivals)
        self.schedules = ScheduleGate(self.arrivals)
        self.formation = FormationGate(clock)
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
            answer = self._ask_sqs(target.removeprefix(_SQS), environ)
        elif _SCHEDULER in environ.get("HTTP_AUTHORIZATION", ""):
            answer = self._ask_scheduler(environ)
        elif _FORMATION in environ.get("HTTP_AUTHORIZATION", ""):
            answer = self.formation.handle(_body(environ))
        else:
            answer = self._ask_moto(environ)
        start_response(answer.status, answer.headers)
        return [answer.body]

    def _ask_sqs(self, operation: str, environ: dict[str, Any]) -> Answer:
        connection: socket = environ["werkzeug.socket"]

        def ask(changed: bytes) -> Answer:
            return self._ask_moto(_with_body(environ, changed))

        return self.gate.handle(operation, _body(environ), ask, lambda: _is_open(connection))

    def _ask_scheduler(self, environ: dict[str, Any]) -> Answer:
        body, path = _body(environ), str(environ["PATH_INFO"])
        answer = self._ask_moto(_with_body(environ, body))
        if path.startswith(_SCHEDULES) and answer.status.startswith("200"):
            query = parse_qs(environ.get("QUERY_STRING", ""))
            self.schedules.note(environ["REQUEST_METHOD"], path.removeprefix(_SCHEDULES), query, body)
        return answer

    def _ask_moto(self, environ: dict[str, Any]) -> Answer:
        head: list[Any] = []

        def start_response(status: str, headers: list[tuple[str, str]], _: Any = None) -> None:
            head.extend((status, headers))

        with _LOCK:
            chunks = list(self._moto(environ, start_response))
        return Answer(head[0], head[1], b"".join(chunks))


def _body(environ: dict[str, Any]) -> bytes:
    read: bytes = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    return read


def _with_body(environ: dict[str, Any], body: bytes) -> dict[str, Any]:
    return {**environ, "wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}


def _is_open(connection: socket) -> bool:
    """Whether the other side has not hung up. It is silent while it waits for an answer."""
    readable, _, _ = select([connection], [], [], 0)
    return not readable or bool(connection.recv(1, MSG_PEEK))
