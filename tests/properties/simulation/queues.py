"""The queues of the simulated system: the in-memory ones, with the freedoms that SQS takes and they do not.

Standard queues deliver in any order; anything that was ever sent can come again, days later, under a new SQS id.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.clock import Clock
from core.delivery import DELAY, INPUT, OUTPUT
from infra.memory.queues import MemoryQueues, QueueSettings

VISIBILITY_SECONDS = 180
COMMANDS = "commands"
"""No queue of the system: what a person types, and types again when it fails."""
TRIES = 4
"""Receives before a message goes to its dead-letter queue."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that was sent, by whomever."""

    queue: str
    body: str
    group: str | None

    @property
    def kind(self) -> str:
        """Its type."""
        return str(json.loads(self.body)["type"])

    @property
    def thread_id(self) -> str:
        """Whom it is for."""
        return str(json.loads(self.body)["thread_id"])


def dead(queue: str) -> str:
    """The name of a queue's dead-letter queue."""
    return f"{queue}-dead"


class SimulatedQueues(MemoryQueues):
    """All queues of a system with these workers."""

    def __init__(
        self,
        clock: Clock,
        workers: Sequence[str],
        silent: Sequence[str],
        visibility_seconds: float,
        *,
        commands: bool = False,
    ) -> None:
        super().__init__(clock)
        self.sent: list[Sent] = []
        self.sources: list[str] = []
        """The queues that invoke functions."""
        self.create(OUTPUT, QueueSettings(fifo=True))
        for name in (INPUT, *(f"worker:{worker}" for worker in workers), DELAY):
            fifo = name == INPUT
            self.create(dead(name), QueueSettings(fifo, VISIBILITY_SECONDS))
            self.create(name, QueueSettings(fifo, visibility_seconds, TRIES, dead(name)))
            if name not in {f"worker:{worker}" for worker in silent}:
                self.sources += [name, dead(name)]
        if commands:
            self.create(COMMANDS, QueueSettings(False, visibility_seconds))
            self.sources.append(COMMANDS)

    def send(
        self,
        name: str,
        body: str,
        *,
        group: str | None = None,
        dedup_id: str | None = None,
        delay_seconds: int = 0,
        sender: str = "",
        attributes: Mapping[str, str] | None = None,
    ) -> str:
        message_id = super().send(
            name,
            body,
            group=group,
            dedup_id=dedup_id,
            delay_seconds=delay_seconds,
            sender=sender,
            attributes=attributes,
        )
        if (known := Sent(name, body, group)) not in self.sent:
            self.sent.append(known)
        return message_id

    def repeat(self, message: Sent, number: int) -> None:
        """Send it again as another message: a producer that tries again, a redrive of a dead-letter queue."""
        dedup_id = f"repeat-{number}" if message.queue == INPUT else None
        self.send(message.queue, message.body, group=message.group, dedup_id=dedup_id)

    def is_waiting(self, name: str) -> bool:
        """Whether there is anything to deliver now."""
        at = self.next_visible_at(name)
        return at is not None and at <= self._clock.now()

    def reorder(self, name: str) -> None:
        """The oldest message of a standard queue falls behind all others."""
        messages = self._queue(name).messages
        if messages:
            oldest = next(iter(messages))
            messages[oldest] = messages.pop(oldest)
