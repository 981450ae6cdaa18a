"""A webhook's receiver on loopback: keeps what is posted."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Thread
from typing import Any


@dataclass(slots=True)
class Receiver:
    """What came, and a way to wait for more."""

    url: str
    posts: list[dict[str, Any]] = field(default_factory=list)
    """In order, with the `Idempotency-Key` of each beside it."""
    keys: list[str] = field(default_factory=list)
    _changed: Condition = field(default_factory=Condition)

    def take(self, body: dict[str, Any], key: str) -> None:
        """Keep a post."""
        with self._changed:
            self.posts.append(body)
            self.keys.append(key)
            self._changed.notify_all()

    def wait_for_final(self, thread_id: str, seconds: float) -> bool:
        """Whether a final message of that thread was posted in time."""

        def came() -> bool:
            return any(post["thread_id"] == thread_id and post.get("final") for post in self.posts)

        with self._changed:
            return self._changed.wait_for(came, seconds)


@contextmanager
def receiving() -> Iterator[Receiver]:
    """On 127.0.0.1, at a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            receiver.take(body, self.headers["Idempotency-Key"])
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = Receiver(f"http://127.0.0.1:{server.server_address[1]}/hook?token=a-secret")
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
