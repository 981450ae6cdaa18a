"""A scenario: an application, a scripted model, and what a client says and when."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.app import App
from infra.scripted.script import Script

THREAD = "t"
FORK = "fork"
REDRIVE = "redrive"
DEPLOY = "deploy"
ERASE = "erase"
EXPIRE = "expire"
SWEEP = "sweep"
"""What the table's stream tells of a thread whose tip has gone."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the client knows when it decides whether to speak."""

    outputs: Sequence[Mapping[str, Any]]
    quiet: bool
    """No function runs, and none is about to at this instant."""
    threads: frozenset[str] = frozenset()
    """Those that have begun."""
    rests: bool = False
    """Nothing will ever happen by itself any more."""

    def count(self, kind: str) -> int:
        return sum(output["type"] == kind for output in self.outputs)


When = Callable[[Situation], bool]


def at_once(_: Situation) -> bool:
    """From the beginning."""
    return True


def when_quiet(situation: Situation) -> bool:
    """When nothing happens by itself any more at this instant."""
    return situation.quiet


def at_rest(situation: Situation) -> bool:
    """When nothing will ever happen by itself any more."""
    return situation.rests


def after(kind: str, count: int = 1) -> When:
    """Once so many outputs of this type have come."""
    return lambda situation: situation.count(kind) >= count


def begun(thread_id: str) -> When:
    """Once this thread exists."""
    return lambda situation: thread_id in situation.threads


@dataclass(frozen=True, slots=True)
class Say:
    """One message of the client, or a command. They are said in order."""

    body: Mapping[str, Any]
    when: When = at_once

    @property
    def text(self) -> str:
        return json.dumps(self.body)

    @property
    def is_command(self) -> bool:
        """Whether it is for the command line, not for a queue of the system."""
        return self.body["type"] in (FORK, REDRIVE, ERASE)

    @property
    def is_deployment(self) -> bool:
        """Whether from here on functions run the scenario's later application."""
        return bool(self.body["type"] == DEPLOY)


def user(message_id: str, content: str, when: When = at_once, **fields: Any) -> Say:
    """A user message."""
    return control("user_message", message_id, when, content=content, **fields)


def control(kind: str, message_id: str, when: When = at_once, **fields: Any) -> Say:
    """A message of any type."""
    return Say({"type": kind, "thread_id": THREAD, "message_id": message_id, **fields}, when)


def fork(message_id: str, at_seq: int, new_thread_id: str, when: When, of: str = THREAD) -> Say:
    """`torpor fork`, given again until it succeeds."""
    return control(FORK, message_id, when, thread_id=of, at_seq=at_seq, new_thread_id=new_thread_id)


def redrive(message_id: str, when: When) -> Say:
    """`torpor dlq redrive` of all that is parked, given again until it succeeds."""
    return control(REDRIVE, message_id, when)


def erase(message_id: str, when: When, of: str = THREAD) -> Say:
    """`torpor erase --tree`, given again until it succeeds."""
    return control(ERASE, message_id, when, thread_id=of)


def expire(message_id: str) -> Say:
    """Once nothing will ever happen by itself any more, RetentionDays go by, and what has expired goes."""
    return control(EXPIRE, message_id, at_rest)


def deploy(message_id: str, when: When) -> Say:
    """A new deployment: whoever runs already goes on with the old one."""
    return control(DEPLOY, message_id, when)


@dataclass(frozen=True, slots=True)
class Scenario:
    """Everything about a run but its schedule."""

    name: str
    app: App
    script: Script
    says: Sequence[Say]
    deadly: str | None = None
    """In the text that a request ends with: then its completion kills the function."""
    silent: Sequence[str] = ()
    """Workers that are programs of somebody else's, and never answer."""
    checkpoint_after: int | None = None
    """After so many commits a log gets a checkpoint, whether that pays or not. None: as the product does it."""
    later: App | None = None
    """What is deployed by `deploy`. Its workers are among those of `app`."""

    def deployed(self, number: int) -> App:
        """The application of this deployment, counted from 0."""
        return self.app if number == 0 or self.later is None else self.later

    @property
    def workers(self) -> list[str]:
        return [*self.app.workers()]


def script(*rules: tuple[dict[str, Any], dict[str, Any]]) -> Script:
    """A script of (when, reply) pairs."""
    return Script.model_validate(
        {"rules": [{"when": when, "reply": {"chunk_size": 12, **reply}} for when, reply in rules]}
    )
