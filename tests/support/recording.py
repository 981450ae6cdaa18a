"""A dispatcher that keeps what was sent, fails where a test says so, and lets a test look on or crash in mid-send."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from core.clock import Clock
from core.delivery import OUTPUT
from core.ports import Outgoing, Unsent
from infra.send_order import Confirmed, Never, NotNow, SendOutcome, send_in_order


async def _nothing(message: Outgoing) -> None:
    """Look on."""


class RecordingDispatcher:
    """Implements `core.ports.Dispatcher` by the real order of sending, one try each."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.sent: list[Outgoing] = []
        """Every confirmed send, repeats included."""
        self.slow: set[str] = set()
        """Queues that take nothing for now."""
        self.gone: set[str] = set()
        """Queues that never take anything."""
        self.on_send: Callable[[Outgoing], Awaitable[None]] = _nothing
        """Awaited before each message; may raise."""

    async def send(self, messages: Sequence[Outgoing]) -> tuple[Unsent, ...]:
        return await send_in_order(messages, self._send_batch, self._clock, self._clock.now())

    async def _send_batch(self, batch: Sequence[Outgoing]) -> list[SendOutcome]:
        return [await self._outcome(message) for message in batch]

    async def _outcome(self, message: Outgoing) -> SendOutcome:
        await self.on_send(message)
        if message.queue in self.gone:
            return Never("gone")
        if message.queue in self.slow:
            return NotNow("slow")
        self.sent.append(message)
        return Confirmed()

    def once(self, queue: str) -> list[Outgoing]:
        """What the queue's receiver sees: each id once."""
        return list({one.id: one for one in self.sent if one.queue == queue}.values())

    def bodies(self, queue: str) -> list[dict[str, Any]]:
        """The bodies of `once`."""
        return [json.loads(one.body) for one in self.once(queue)]

    @property
    def outputs(self) -> list[dict[str, Any]]:
        return self.bodies(OUTPUT)

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        """Outputs of one type."""
        return [output for output in self.outputs if output["type"] == kind]

    @property
    def internal(self) -> list[Outgoing]:
        """Wakes and timers sent so far, each once, in order."""
        return [*({one.id: one for one in self.sent if one.queue in ("input", "delay")}.values())]
