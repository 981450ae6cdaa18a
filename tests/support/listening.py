"""What functions write about themselves, kept: log lines, metrics and traces, at every level."""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from handlers.logs import logger, metric_log
from handlers.numbers import Span


@dataclass
class Kept:
    """Texts, in the order in which they were written."""

    texts: list[str] = field(default_factory=list)
    traces: list[tuple[list[str], dict[str, Any]]] = field(default_factory=list)
    """Names of spans, the whole first, and what they are found by."""

    def add(
        self, whole: Span, parts: Sequence[Span], annotations: Mapping[str, str | int], *, failed: bool
    ) -> None:
        """As `handlers.tracing.Trace`."""
        self.traces.append(([whole.name, *(part.name for part in parts)], {**annotations, "failed": failed}))

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Log lines."""
        return [line for line in map(json.loads, self.texts) if "action" in line]

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """Lines of metrics."""
        return [line for line in map(json.loads, self.texts) if "_aws" in line]

    def of(self, action: str) -> list[dict[str, Any]]:
        """Log lines of one action."""
        return [line for line in self.lines if line["action"] == action]


class _Keeping(logging.Handler):
    def __init__(self, kept: Kept, formatter: logging.Formatter | None) -> None:
        super().__init__()
        self._kept = kept
        self.setFormatter(formatter)

    def emit(self, record: logging.LogRecord) -> None:
        self._kept.texts.append(self.format(record))


@contextmanager
def listening() -> Iterator[Kept]:
    """Nothing is written anywhere else meanwhile. On the local stack: to be entered after it was started."""
    kept = Kept()
    logs = [(logging.getLogger(logger().service), logger().registered_formatter), (metric_log(), None)]
    before = [(log.handlers[:], log.level) for log, _ in logs]
    for log, formatter in logs:
        log.handlers[:] = [_Keeping(kept, formatter)]
        log.setLevel(logging.DEBUG)
    try:
        yield kept
    finally:
        for (log, _), (handlers, level) in zip(logs, before, strict=True):
            log.handlers[:] = handlers
            log.setLevel(level)
