"""CloudFormation on loopback, as far as commands ask it: what a stack's outputs and parameters are.

moto has a CloudFormation too, but it imports every service of moto's, with packages that the lock does not have.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

Described = Mapping[str, Mapping[str, str]]
"""Of a stack: `Output` and `Parameter`, each by key."""
NAMESPACE = "http://cloudformation.amazonaws.com/doc/2010-05-15/"


def _members(kind: str, values: Mapping[str, str]) -> str:
    pairs = "".join(
        f"<member><{kind}Key>{escape(key)}</{kind}Key><{kind}Value>{escape(value)}</{kind}Value></member>"
        for key, value in values.items()
    )
    return f"<{kind}s>{pairs}</{kind}s>"


def _answer(stacks: Mapping[str, Described], name: str) -> tuple[int, str]:
    """The status and body of `DescribeStacks`, in the query protocol's XML."""
    if name not in stacks:
        error = f"<Code>ValidationError</Code><Message>Stack with id {escape(name)} does not exist</Message>"
        return (
            400,
            f'<ErrorResponse xmlns="{NAMESPACE}"><Error><Type>Sender</Type>{error}</Error></ErrorResponse>',
        )
    parts = "".join(_members(kind, values) for kind, values in stacks[name].items())
    facts = "<CreationTime>2025-01-01T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus>"
    member = f"<member><StackName>{escape(name)}</StackName>{facts}{parts}</member>"
    result = f"<DescribeStacksResult><Stacks>{member}</Stacks></DescribeStacksResult>"
    return 200, f'<DescribeStacksResponse xmlns="{NAMESPACE}">{result}</DescribeStacksResponse>'


@contextmanager
def formation(stacks: Mapping[str, Described]) -> Iterator[str]:
    """Its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            assert asked["Action"] == ["DescribeStacks"]
            status, body = _answer(stacks, asked["StackName"][0])
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Not to the test's output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
