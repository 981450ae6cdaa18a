"""Who calls a built-in tool, and what it is told in return."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.agent import Agent
from core.blocks import Content, JsonBlock, text_content
from core.entries import Outcome
from core.history.manager import HistoryManager
from core.supervisor import Player
from core.text import wire_json

MAX_TEXT_BYTES = 262_144
"""Of a text between threads, as ASCII-escaped JSON: with what stands around it, it must fit one message."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The thread of the call, as its turn finds it."""

    manager: HistoryManager
    agent: Agent
    agents: Mapping[str, Player]
    spawn_credit: int
    """Tokens that each child of this turn is given."""
    now: datetime

    @property
    def thread_stack(self) -> tuple[str, ...]:
        return self.manager.thread_stack


@dataclass(frozen=True, slots=True)
class Told:
    """The result of a built-in call."""

    content: Content
    outcome: Outcome = "ok"


@dataclass(frozen=True, slots=True)
class Waits:
    """The call stays live, and anything that comes interrupts it. `until` None: it ends by nothing else."""

    until: datetime | None


def done(**data: Any) -> Told:
    """The call was carried out."""
    return Told((JsonBlock(data=data),))


def failed(text: str, outcome: Outcome = "error") -> Told:
    """Nothing was done; `text` tells the model what to do instead."""
    return Told(text_content(text), outcome)


def is_too_long(text: str) -> bool:
    """Whether no message between threads can carry `text`."""
    return len(wire_json(text)) > MAX_TEXT_BYTES
