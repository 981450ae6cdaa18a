"""Traces in X-Ray, where the template's `Tracing` is on: one subsegment per slice, with its parts.

A worker has Lambda's own segment only: the SDK would bring a botocore into its layer. Importing it takes an eighth of a
second, so that is done only then. Spans are sent when all is over, under the instants that the stopwatch saw: no
subsegment is open while other code runs, and slices that overlap cannot mix.
Nothing is patched or captured, so no argument, result, exception or URL gets into a trace.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from core.clock import Clock
from handlers.numbers import Span


class Trace(Protocol):
    """Takes what was measured."""

    def add(
        self, whole: Span, parts: Sequence[Span], annotations: Mapping[str, str | int], *, failed: bool
    ) -> None:
        """`whole` has just ended; `parts` lie in it. `annotations`: what traces are found by."""
        ...


@dataclass(frozen=True, slots=True)
class XRayTrace:
    """Subsegments of the segment that Lambda made for the invocation."""

    recorder: Any
    """As `aws_xray_sdk.core.xray_recorder`."""
    clock: Clock

    def add(
        self, whole: Span, parts: Sequence[Span], annotations: Mapping[str, str | int], *, failed: bool
    ) -> None:
        """As the protocol says."""
        zero = self.clock.now().timestamp() - whole.ended
        segment = self._begin(whole, zero)
        if segment is None:
            return
        for name, value in annotations.items():
            segment.put_annotation(name, value)
        if failed:
            segment.add_fault_flag()
        for part in parts:
            if self._begin(part, zero) is not None:
                self.recorder.end_subsegment(zero + part.ended)
        self.recorder.end_subsegment(zero + whole.ended)

    def _begin(self, span: Span, zero: float) -> Any:
        segment = self.recorder.begin_subsegment(span.name)
        if segment is not None:
            segment.start_time = zero + span.began
        return segment


def x_ray(clock: Clock) -> XRayTrace:
    """Imports the SDK."""
    from aws_lambda_powertools import Tracer

    return XRayTrace(Tracer(service="torpor", auto_patch=False).provider, clock)
