"""What a scripted model does, as data that reads like a story, and a model that plays it and keeps its requests."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from core.chunks import Chunk
from core.clock import Clock
from core.request import CallPart, ModelRequest, RequestMessage, ResultPart
from core.text import wire_json
from infra.scripted.model import ScriptedModel
from infra.scripted.script import Script

Call = tuple[str, dict[str, Any]]
Rule = Mapping[str, Any]
Rules = Sequence[Rule]

FETCH: Call = ("fetch", {"url": "u"})


def on(*calls: Call, says: str = "", tokens: int = 10, error: str | None = None, **when: Any) -> Rule:
    """When all of `when` holds, the model says and calls this. `tokens`: what the completion costs."""
    reply: dict[str, Any] = {"text": says, "usage": {"input_tokens": tokens, "output_tokens": 0}}
    if calls:
        reply["tool_calls"] = [{"name": name, "args": args} for name, args in calls]
    if error is not None:
        reply["error"] = error
    return {"when": when, "reply": reply}


def spawn(instructions: str, **more: Any) -> Call:
    """A call that spawns a child of whoever makes it."""
    return ("spawn_thread", {"instructions": instructions, "child_of": "{thread_stack}", **more})


def task(instructions: str) -> dict[str, Any]:
    """Holds for a child that has just been told its task."""
    return {"tool_result": "spawn_thread", "result": f"nothing else: {instructions}\\n"}


def spawned(depth: int = 0) -> dict[str, Any]:
    """Holds for whoever has just spawned something."""
    return {"tool_result": "spawn_thread", "depth": depth}


class RecordingScript:
    """Implements `core.ports.Model`. Every request passes the strict check."""

    def __init__(self, rules: Rules, clock: Clock) -> None:
        self._clock = clock
        self.requests: list[ModelRequest] = []
        self.play(*rules)

    @property
    def context_window(self) -> int | None:
        return None

    @property
    def signs_reasoning(self) -> bool:
        return True

    def play(self, *rules: Rule) -> None:
        """Other rules from now on."""
        self._model = ScriptedModel(
            Script.model_validate_json(wire_json({"rules": list(rules)})), self._clock
        )

    async def stream(self, request: ModelRequest, *, timeout_seconds: float) -> AsyncGenerator[Chunk, None]:
        self.requests.append(request)
        async for chunk in self._model.stream(request, timeout_seconds=timeout_seconds):
            yield chunk

    def asked_in(self, thread_id: str) -> list[ModelRequest]:
        """The requests made for one thread."""
        return [one for one in self.requests if one.context.thread_stack[-1] == thread_id]


def shown(request: ModelRequest) -> list[str]:
    """The messages of a request, one line each: `user: hello`, `assistant: call spawn_thread`, `user: = …`."""
    return [_shown(message) for message in request.messages]


def _shown(message: RequestMessage) -> str:
    return f"{message.role}: {', '.join(map(_part, message.parts))}"


def _part(part: Any) -> str:
    match part:
        case CallPart(name=name):
            return f"call {name}"
        case ResultPart(name=name):
            return f"result {name}"
        case _:
            return str(getattr(part, "text", part))
