"""`Telemetry`: where a container's metrics and traces go. Built once, from the environment.

Apart from what watches slices (`handlers/watch.py`), which workers have no use for.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Self

from core.clock import Clock
from core.prices import Prices
from handlers.lines import milliseconds
from handlers.logs import metric_log, write_line
from handlers.metrics import MetricLines
from handlers.numbers import Span
from handlers.tracing import Trace, x_ray

NAMESPACE = "Torpor"
"""Of the metrics, where TORPOR_METRICS does not say: the template's has the stack's name in it."""


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Of one function."""

    lines: MetricLines = field(default_factory=lambda: MetricLines(NAMESPACE, "agent", {}))
    trace: Trace | None = None
    seconds: Callable[[], float] = perf_counter
    """A stopwatch: durations are the machine's, whatever the clock says."""

    @classmethod
    def read(cls, environ: Mapping[str, str], function: str, clock: Clock, prices: Prices) -> Self:
        """TORPOR_METRICS, the metrics' namespace; TORPOR_TRACING, `Active` or anything else for no traces."""
        namespace = environ.get("TORPOR_METRICS", "").strip() or NAMESPACE
        trace = x_ray(clock) if environ.get("TORPOR_TRACING", "").strip() == "Active" else None
        return cls(MetricLines(namespace, function, prices), trace)

    def ran(self, began: float, result: str, fields: Mapping[str, str]) -> None:
        """A worker is done with a message, or failed; `began` by the stopwatch."""
        span = Span("run", began, self.seconds())
        ms = milliseconds(span.seconds)
        write_line(logging.INFO, "worker run", action="worker_run", result=result, ms=ms, **fields)
        metric_log().info(self.lines.of_run(ms, result))
        if self.trace is not None:
            self.trace.add(span, (), fields, failed=result == "failed")
