"""Metrics of an invocation, as lines of CloudWatch's embedded metric format.

Few and bounded dimensions: what slices take by function; completions by agent and model. One line per slice, which is
one per invocation where batches hold one record; a slice that asked several models has one more for each further one.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aws_lambda_powertools.metrics.provider.cloudwatch_emf.cloudwatch import AmazonCloudWatchEMFProvider

from core.prices import Prices
from handlers.lines import milliseconds
from handlers.numbers import ModelTry, SliceNumbers

COUNTS = {
    "inputs_duplicate": "Duplicates",
    "inputs_stale": "StaleInputs",
    "commits": "Commits",
    "stale_commits": "StaleCommits",
    "calls": "Calls",
    "interruptions": "Interruptions",
    "late_calls": "LateCalls",
    "spawns": "Spawns",
    "carried": "CarriedMessages",
    "undeliverable": "UndeliverableMessages",
}
Metric = tuple[str, str, float]
"""Name, unit, value."""


@dataclass(frozen=True, slots=True)
class MetricLines:
    """Makes the lines of one function."""

    namespace: str
    function: str
    prices: Prices

    def of_slice(self, numbers: SliceNumbers) -> Iterator[str]:
        """A slice's."""
        own = self._line({"function": self.function}, list(_of_slice(numbers)))
        by_model = [
            self._of_model(numbers, model) for model in dict.fromkeys(one.model for one in numbers.tries)
        ]
        for index, line in enumerate([_joined(own, by_model[0]), *by_model[1:]] if by_model else [own]):
            yield json.dumps(line if index else {**line, **_ids(numbers)})

    def of_run(self, ms: float, result: str) -> str:
        """A worker's run of one message. `result`: what became of it."""
        run = [("WorkerRuns", "Count", 1.0), ("WorkerTime", "Milliseconds", ms)]
        failed = [("WorkerFailures", "Count", 1.0)] if result == "failed" else []
        return json.dumps(self._line({"function": self.function}, [*run, *failed]))

    def _of_model(self, numbers: SliceNumbers, model: str) -> dict[str, Any]:
        agent = numbers.seen.agent if numbers.seen else "unknown"
        tries = [one for one in numbers.tries if one.model == model]
        return self._line({"agent": agent, "model": model}, list(_of_tries(tries, self.prices)))

    def _line(self, dimensions: Mapping[str, str], metrics: list[Metric]) -> dict[str, Any]:
        provider = AmazonCloudWatchEMFProvider(
            metric_set={}, dimension_set=dict(dimensions), namespace=self.namespace, metadata_set={}
        )
        provider.service = ""  # its dimension would double `function`
        for name, unit, value in metrics:
            provider.add_metric(name, unit, value)
        return dict(provider.serialize_metric_set())


def _of_slice(numbers: SliceNumbers) -> Iterator[Metric]:
    yield "Slices", "Count", 1
    if numbers.failed:
        yield "FailedSlices", "Count", 1
    yield "SliceTime", "Milliseconds", milliseconds(numbers.span.seconds)
    for phase, seconds in numbers.seconds_by_phase.items():
        if (ms := milliseconds(seconds)) > 0:
            yield f"{phase.capitalize()}Time", "Milliseconds", ms
    for name, metric in COUNTS.items():
        if numbers.counts[name]:
            yield metric, "Count", numbers.counts[name]


def _of_tries(tries: list[ModelTry], prices: Prices) -> Iterator[Metric]:
    for one in tries:
        yield "ModelTime", "Milliseconds", milliseconds(one.span.seconds)
        if one.usage is None:
            yield "ModelFailures", "Count", 1
            continue
        yield "Completions", "Count", 1
        yield "InputTokens", "Count", max(0, one.usage.input_tokens)
        yield "OutputTokens", "Count", max(0, one.usage.output_tokens)
        yield "CachedTokens", "Count", max(0, one.usage.cached_tokens)
        if (price := prices.get(one.model)) is not None:
            yield "CostEstimate", "None", price.of(one.usage)


def _joined(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Two lines as one: each keeps its dimensions. Their names are not the same."""
    directives = [*first["_aws"]["CloudWatchMetrics"], *second["_aws"]["CloudWatchMetrics"]]
    return {**second, **first, "_aws": {**first["_aws"], "CloudWatchMetrics": directives}}


def _ids(numbers: SliceNumbers) -> dict[str, str]:
    """So that a line can be found by them; they are no dimensions."""
    seen = numbers.seen
    if seen is None:
        return {}
    return {"root_thread_id": seen.root_thread_id, "correlation_id": seen.correlation_id or ""}
