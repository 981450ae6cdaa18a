"""A loopback model server in OpenAI's form, for whoever forwards to one: plays messages, and keeps every request."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Message = dict[str, Any]
PATH = "/v1/chat/completions"


class ModelServer:
    """Plays its messages one after another. Asked for more, it fails the request."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[dict[str, Any]] = []
        self.messages: list[Message] = []

    def play(self, *messages: Message) -> None:
        """Add messages of the assistant."""
        self.messages.extend(messages)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The next one, as a whole completion."""
        self.requests.append(request)
        message = self.messages.pop(0)
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        return {
            "id": f"chatcmpl-{len(self.requests)}",
            "object": "chat.completion",
            "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }


def says(text: str) -> Message:
    return {"role": "assistant", "content": text}


def calls(*named: tuple[str, dict[str, Any]], text: str | None = None) -> Message:
    """Calls without ids of their own: whoever forwards them makes some up, the same in every turn."""
    functions = [{"name": name, "arguments": json.dumps(arguments)} for name, arguments in named]
    made = [{"type": "function", "function": function} for function in functions]
    return {"role": "assistant", "content": text, "tool_calls": made}


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """On 127.0.0.1, at a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps(served.answer(request)).encode() if self.path == PATH else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = ModelServer(f"http://127.0.0.1:{server.server_address[1]}")
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
