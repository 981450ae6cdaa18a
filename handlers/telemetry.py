"""`Telemetry`: where a container's metrics and traces go. Built once, from the environment.

Apart from what watches slices (`handlers/watch.py`), which workers have no use for.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Self

from core.prices import Prices
from handlers.lines import milliseconds
from handlers.logs import metric_log, write_line
from handlers.metrics import MetricLines
from handlers.tracing import Trace

NAMESPACE = "Torpor"
"""Of the metrics; of a stack's, with its name."""


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Of one function."""

    lines: MetricLines = field(default_factory=lambda: MetricLines(NAMESPACE, "agent", {}))
    trace: Trace | None = None
    seconds: Callable[[], float] = perf_counter
    """A stopwatch: durations are the machine's, whatever the clock says."""

    @classmethod
    def read(
        cls, environ: Mapping[str, str], function: str, prices: Prices, trace: Trace | None = None
    ) -> Self:
        """TORPOR_STACK: the stack's name, which is part of the metrics' namespace."""
        stack = environ.get("TORPOR_STACK", "").strip()
        namespace = f"{NAMESPACE}/{stack}" if stack else NAMESPACE
        return cls(MetricLines(namespace, function, prices), trace)

    def ran(self, began: float, result: str, fields: Mapping[str, str]) -> None:
        """A worker is done with a message, or failed; `began` by the stopwatch."""
        ms = milliseconds(self.seconds() - began)
        write_line(logging.INFO, "worker run", action="worker_run", result=result, ms=ms, **fields)
        metric_log().info(self.lines.of_run(ms, result))
