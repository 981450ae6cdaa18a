"""`SliceWatch`: hears one slice as its witness and its observer, writes the log lines, and keeps the numbers.

Of what an observer is told, which is content, it takes only that a tool begins to run here.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from core.chunks import Chunk, Completed
from core.errors import ModelRefused, ModelUnavailable
from core.facts import Entered, Fact, ModelAnswered, ModelAsked, ModelFailed, Witness
from core.ports import Model, Observer
from core.request import ModelRequest
from core.slice.notices import CallStarted
from handlers.lines import Line, line_of_slice, line_of_try, lines_of
from handlers.logs import logger, metric_log, write_line
from handlers.numbers import SliceNumbers
from handlers.telemetry import Telemetry


class SliceWatch:
    """Of one slice of a thread, from entry to exit, however that comes. `observer` is told what this one is told."""

    def __init__(
        self, telemetry: Telemetry, observer: Observer, thread_id: str, correlation_id: str | None
    ) -> None:
        self._ids: dict[str, Any] = {"thread_id": thread_id, "correlation_id": correlation_id}
        self._telemetry = telemetry
        self._seconds = telemetry.seconds
        self._observer = observer
        self.numbers = SliceNumbers(telemetry.seconds())

    def __enter__(self) -> "SliceWatch":
        self._write(Line(logging.DEBUG, "slice_started", "slice started", {}))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.numbers.end(self._seconds(), failed=error is not None)
        self._write(line_of_slice(self.numbers, "done" if error is None else type(error).__name__))
        for metrics in self._telemetry.lines.of_slice(self.numbers):
            metric_log().info(metrics)
        if self._telemetry.trace is not None:
            parts = [*self.numbers.spans, *(one.span for one in self.numbers.tries)]
            annotations = _annotations(self.numbers)
            self._telemetry.trace.add(self.numbers.span, parts, annotations, failed=self.numbers.failed)

    def hear(self, fact: Fact) -> None:
        """As `core.facts.Witness`."""
        numbers, tries = self.numbers, len(self.numbers.tries)
        numbers.hear(fact, self._seconds())
        if (seen := numbers.seen) is fact and seen is not None:
            told = {"root_thread_id": seen.root_thread_id, "correlation_id": seen.correlation_id}
            self._ids |= {**told, "agent": seen.agent, "kind": seen.kind, "depth": seen.depth}
        for line in lines_of(fact):
            self._write(line)
        for ended in numbers.tries[tries:]:
            self._write(line_of_try(ended))

    def notice(self, event: object) -> None:
        """As `core.ports.Observer`."""
        if isinstance(event, CallStarted) and event.worker is None and self.numbers.phase != "tools":
            self.hear(Entered("tools"))
        self._observer.notice(event)

    def _write(self, line: Line) -> None:
        if line.level >= logger().log_level:
            fields = {name: value for name, value in (self._ids | line.fields).items() if value is not None}
            write_line(line.level, line.text, action=line.action, **fields)


@dataclass(frozen=True, slots=True)
class WatchedModel:
    """Tells a witness how each completion of `model` goes."""

    model: Model
    witness: Witness

    @property
    def context_window(self) -> int | None:
        return self.model.context_window

    @property
    def signs_reasoning(self) -> bool:
        return self.model.signs_reasoning

    async def stream(self, request: ModelRequest, *, timeout_seconds: float) -> AsyncGenerator[Chunk, None]:
        """As `core.ports.Model`."""
        self.witness.hear(ModelAsked(request.model, request.context.attempt))
        ended: ModelAnswered | ModelFailed = ModelFailed(None)
        try:
            async with aclosing(self.model.stream(request, timeout_seconds=timeout_seconds)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Completed):
                        ended = ModelAnswered(chunk.stop_reason, chunk.usage)
                        self.witness.hear(ended)
                    yield chunk
        except (ModelUnavailable, ModelRefused) as error:
            ended = ModelFailed(type(error).__name__)
            raise
        finally:
            if isinstance(ended, ModelFailed):
                self.witness.hear(ended)


def _annotations(numbers: SliceNumbers) -> dict[str, str | int]:
    """What a trace is found by."""
    seen = numbers.seen
    if seen is None:
        return {}
    found: dict[str, str | int] = {
        "root_thread_id": seen.root_thread_id,
        "agent": seen.agent,
        "commit": numbers.commit or seen.commit,
    }
    return found if seen.correlation_id is None else {**found, "correlation_id": seen.correlation_id}
