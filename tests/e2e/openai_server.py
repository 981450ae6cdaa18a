"""A loopback model server in OpenAI's form, for whoever forwards to one: plays a script, and keeps every request."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

Message = dict[str, Any]
Request = dict[str, Any]
Rule = Callable[[Request], Message]
"""A message of the assistant for a request, and whatever else is to happen while the model is asked."""
PATH = "/v1/chat/completions"


class ModelServer:
    """Plays a script for each conversation, known by the first words of its user. Asked for more, it fails the
    request. Conversations may come at once.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._scripts: dict[str, list[Message | Rule]] = {}
        self._rules: dict[str, Rule] = {}
        self._requests: list[Request] = []
        self._lock = Lock()

    def play(self, opening: str, *replies: Message | Rule) -> None:
        """What the assistant says in the conversation that opens with this text, one reply after another."""
        with self._lock:
            self._scripts[opening] = [*self._scripts.get(opening, ()), *replies]

    def follow(self, opening: str, rule: Rule) -> None:
        """The same for a conversation whose requests may be lost and made again."""
        with self._lock:
            self._rules[opening] = rule

    def requests(self, opening: str) -> list[Request]:
        """What was asked in that conversation."""
        with self._lock:
            return [request for request in self._requests if _opening(request) == opening]

    def unplayed(self, opening: str) -> int:
        """Replies that nobody asked for yet."""
        with self._lock:
            return len(self._scripts.get(opening, ()))

    def answer(self, request: Request) -> dict[str, Any] | None:
        """The next reply as a whole completion; None: none is left."""
        opening = _opening(request)
        with self._lock:
            self._requests.append(request)
            script = self._scripts.get(opening)
            reply = script.pop(0) if script else self._rules.get(opening)
        if reply is None:
            return None
        message = reply(request) if callable(reply) else reply
        reason = "tool_calls" if "tool_calls" in message else "stop"
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }


def _opening(request: Request) -> str:
    return next((str(one["content"]) for one in request["messages"] if one["role"] == "user"), "")


def says(text: str) -> Message:
    return {"role": "assistant", "content": text}


def calls(*named: tuple[str, dict[str, Any]], text: str | None = None) -> Message:
    """Calls without ids of their own: whoever forwards them makes some up, the same in every turn."""
    functions = [{"name": name, "arguments": json.dumps(arguments)} for name, arguments in named]
    made = [{"type": "function", "function": function} for function in functions]
    return {"role": "assistant", "content": text, "tool_calls": made}


def echoes(request: Request) -> Message:
    """A rule: the answer to one text is no answer to another."""
    return says(f"To: {request['messages'][-1]['content']}")


def tool_results(request: Request) -> list[str]:
    """The results that answer the assistant's last message, in order; none if it has said nothing yet."""
    said = [at for at, one in enumerate(request["messages"]) if one["role"] == "assistant"]
    after = request["messages"][said[-1] :] if said else []
    return [str(one["content"]) for one in after if one["role"] == "tool"]


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """On 127.0.0.1, at a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = served.answer(request) if self.path == PATH else None
            body = json.dumps(answer).encode()
            self.send_response(500 if answer is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            with suppress(ConnectionError):  # whoever asked may be gone
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
