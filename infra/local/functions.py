"""`Function`: a Lambda function as the local stack runs it. A container that lives in a thread of its own, built when
first needed and replaced after an invocation died in it.

Handlers are found by name, as Lambda finds them: nothing in `infra` imports `handlers`.
"""

import importlib
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar

from core.clock import Clock
from infra.local.resources import AGENT, DEAD_LETTERS, RELAY, SWEEPER

T = TypeVar("T")
WrapPorts = Callable[[str, Any], Any]
"""From a function's name (`agent`, `relay`, `dead_letters`, `sweeper`, `worker:<name>`) and its new container to the
container that its invocations get: the seam for tests that let ports fail, or an invocation die between two of their
calls."""

_LOG = logging.getLogger("torpor.local")


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """Where a function's code is."""

    module: str
    """Has `handle(event, container, remaining_ms)`."""
    container: str
    """`module:function` that builds the container from environment, clock and endpoint."""
    timed: bool = True
    """Whether `handle` takes the remaining time."""

    def handle(self) -> Callable[..., Any]:
        """The handler."""
        found: Callable[..., Any] = importlib.import_module(self.module).handle
        return found

    def build(self) -> Callable[..., Any]:
        """The container's builder."""
        module, _, name = self.container.partition(":")
        found: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return found


_ENTRY_POINTS = {
    AGENT: EntryPoint("handlers.agent", "handlers.agent_container:build_agent_container"),
    RELAY: EntryPoint("handlers.timer_relay", "handlers.bootstrap:build_relay_container", timed=False),
    SWEEPER: EntryPoint("handlers.sweeper", "handlers.sweeper_container:build_sweeper_container"),
    DEAD_LETTERS: EntryPoint("handlers.dead_letters", "handlers.agent_container:build_dead_letter_container"),
}
_WORKER = EntryPoint("handlers.tool_worker", "handlers.bootstrap:build_worker_container")


def entry_point(function: str) -> EntryPoint:
    """Of `agent`, `relay`, `dead_letters`, `sweeper` or `worker:<name>`."""
    return _ENTRY_POINTS.get(function, _WORKER)


class Function:
    """One function, one container at a time."""

    def __init__(
        self,
        name: str,
        build: Callable[[], Any],
        *,
        timeout_seconds: float,
        clock: Clock,
        wrap_ports: WrapPorts | None = None,
    ) -> None:
        self.name = name
        self._entry = entry_point(name)
        self._build = build
        self._timeout_seconds = timeout_seconds
        self._clock = clock
        self._wrap_ports = wrap_ports
        self._container: Any = None
        self._wrapped: Any = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"torpor-{name}")

    def invoke(self, event: dict[str, Any]) -> tuple[Any, BaseException | None]:
        """The response, or what the invocation died of; then its container is gone too, as on Lambda."""
        running = self._thread.submit(self._handle, event)
        death = running.exception()
        if death is None:
            return running.result(), None
        _LOG.warning("%s: the invocation died of %s", self.name, type(death).__name__, exc_info=death)
        self._thread.submit(self._end_container).result()
        return None, death

    def ask(self, question: Callable[[Any], T]) -> T:
        """What `question` makes of the container, its ports unwrapped, in the container's thread."""
        return self._thread.submit(lambda: question(self._ready())).result()

    def close(self, *, wait: bool = True) -> None:
        """End the container and its thread; without `wait`, whenever it is done with what it runs."""
        self._thread.submit(self._end_container)
        self._thread.shutdown(wait=wait)

    def _ready(self) -> Any:
        if self._container is None:
            self._container = self._build()
            wrap = self._wrap_ports
            self._wrapped = wrap(self.name, self._container) if wrap else self._container
        return self._container

    def _handle(self, event: dict[str, Any]) -> Any:
        self._ready()
        if not self._entry.timed:
            return self._entry.handle()(event, self._wrapped)
        return self._entry.handle()(event, self._wrapped, self._remaining_ms())

    def _remaining_ms(self) -> Callable[[], float]:
        """What is left of the invocation that starts now, by the machine's time or the clock's, whichever is less."""
        started, started_at = monotonic(), self._clock.now()

        def remaining_ms() -> float:
            passed = max(monotonic() - started, (self._clock.now() - started_at).total_seconds())
            return max(0.0, self._timeout_seconds - passed) * 1000

        return remaining_ms

    def _end_container(self) -> None:
        container, self._container, self._wrapped = self._container, None, None
        if container is not None:
            container.close()
