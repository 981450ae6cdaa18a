"""What kinds of turns are made of: each played on the local stack, over real HTTP requests, and counted there."""

import io
import os
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch

from bench.wire import Asked, Wire, watched
from core.chunks import Chunk
from core.ports import Model
from core.request import ModelRequest
from infra.local import LocalTorpor
from tests.contract.samples import noise
from tests.cost.app import SPEC
from tests.functional.killing import DyingStore, Killer

START = datetime(2026, 1, 1, tzinfo=UTC)
QUESTION_CHARACTERS = 200
OLD_TURNS = 20
HOUR = 3_700
"""Seconds in which the deadline of every call of these turns passes."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A turn from its message to its last consequence."""

    asked: tuple[Asked, ...]
    completions: int


@dataclass
class Counter:
    """A local stack whose wire is watched. Ids and instants are given, so that each count finds the same."""

    local: LocalTorpor
    wire: Wire
    played: "_Played"
    _messages: int = 0

    def say(self, thread_id: str, what: str, **fields: Any) -> None:
        """Send a message of everyday size and see to all that it leads to."""
        body = {"type": "user_message", "content": f"{what} {noise(QUESTION_CHARACTERS, what)}"}
        self.send(thread_id, **body, **fields)

    def send(self, thread_id: str, **body: Any) -> None:
        """Send any message under an id of its own, unless it has one."""
        self._messages += 1
        message = {"message_id": f"m{self._messages:05}", "thread_id": thread_id, **body}
        self.local.send(message, sender="AIDAUSER")
        self.local.drain()

    def count(self, act: Callable[[], None]) -> Counted:
        """What `act` takes, deadlines that pass later included."""
        self.wire.take()
        before = self.played.completions
        act()
        self.local.advance(seconds=HOUR)
        return Counted(tuple(self.wire.take()), self.played.completions - before)

    def last(self, thread_id: str, key: str) -> Any:
        """Of the newest output of the thread that has it."""
        return next(output[key] for output in reversed(self.local.outputs(thread_id)) if key in output)

    def goes_cold(self) -> None:
        """The next message meets a new container."""
        self.played.killer.aim("before load")


@dataclass
class _Played:
    """Counts completions; lets an invocation die before it has done anything."""

    killer: Killer = field(default_factory=Killer)
    completions: int = 0

    def wrap(self, function: str, container: Any) -> Any:
        """As `infra.local.WrapPorts`."""
        if function != "agent":
            return container
        ports, models = container.ports, container.ports.models
        counted = {
            "store": DyingStore(ports.store, self.killer),
            "models": lambda name: _CountedModel(models(name), self),
        }
        return replace(container, ports=replace(ports, **counted))


@dataclass(frozen=True)
class _CountedModel:
    model: Model
    played: _Played

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    async def stream(self, request: ModelRequest, *, timeout_seconds: float) -> AsyncGenerator[Chunk, None]:
        self.played.completions += 1
        async for chunk in self.model.stream(request, timeout_seconds=timeout_seconds):
            yield chunk


@contextmanager
def counter() -> Iterator[tuple[Counter, io.StringIO]]:
    """A stack to count on, and what its functions log."""
    log, played = io.StringIO(), _Played()
    with (
        patch.dict(os.environ, {"LOG_LEVEL": "INFO"}),
        redirect_stderr(log),
        watched() as wire,
        LocalTorpor(app=SPEC, start=START, wrap_ports=played.wrap) as local,
    ):
        yield Counter(local, wire, played), log


def _after(*first: str, **fields: Any) -> Callable[[Counter, str, str], None]:
    """A thread that was spoken with before."""

    def prepare(on: Counter, thread_id: str, what: str) -> None:
        for text in first or ("before",):
            on.say(thread_id, text, **fields)

    return prepare


def _old(on: Counter, thread_id: str, what: str) -> None:
    for number in range(OLD_TURNS):
        on.say(thread_id, f"before {number}")
    on.goes_cold()


def _say(on: Counter, thread_id: str, what: str) -> None:
    on.say(thread_id, what)


def _approve(on: Counter, thread_id: str, what: str) -> None:
    on.say(thread_id, "pay")
    on.send(thread_id, type="answer", call_id=on.last(thread_id, "call_id"), approved=True)


def _event(*, associative: bool) -> Callable[[Counter, str, str], None]:
    def act(on: Counter, thread_id: str, what: str) -> None:
        event = {"type": "subscription_event", "event_id": "1", "associative": associative}
        on.send(thread_id, **event, call_id=on.last(thread_id, "call_id"), content=noise(QUESTION_CHARACTERS))

    return act


def _nap(seconds: float) -> Callable[[Counter, str, str], None]:
    def act(on: Counter, thread_id: str, what: str) -> None:
        on.say(thread_id, what)
        on.local.advance(seconds=seconds)

    return act


def _compact(on: Counter, thread_id: str, what: str) -> None:
    on.send(thread_id, type="compact")


def _again(on: Counter, thread_id: str, what: str) -> None:
    on.send(thread_id, type="user_message", content="again", message_id="same")


Act = Callable[[Counter, str, str], None]
KINDS: dict[str, tuple[Act, Act]] = {
    "text answer": (_after(), _say),
    "text answer, cold": (_old, _say),
    "inline call": (_after(), _say),
    "worker call": (_after(), _say),
    "two worker calls": (_after(), _say),
    "result of 300 KB": (_after(), _say),
    "supervised turn": (_after(agent="desk"), _say),
    "child thread": (_after(), _say),
    "event": (_after("watch"), _event(associative=False)),
    "event that joins": (_after("watch"), _event(associative=True)),
    "question": (_after(), _approve),
    "sleep of 10 minutes": (_after(), _nap(600)),
    "sleep of a week": (_after(), _nap(604_800)),
    "compaction": (_after(*(f"before {number}" for number in range(10))), _compact),
    "duplicate": (_again, _again),
}
"""By name, which its message begins with: what comes before, and what is counted."""


def count_all(on: Counter) -> dict[str, Counted]:
    """Every kind of turn, each on a thread of its own."""
    counted = {}
    for number, (name, (prepare, act)) in enumerate(KINDS.items()):
        thread_id = f"thread-{number:02}"
        prepare(on, thread_id, name)
        on.local.advance(seconds=HOUR)
        counted[name] = on.count(lambda: act(on, thread_id, name))  # noqa: B023 - called at once
    return counted
