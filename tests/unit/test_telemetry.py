"""From facts to numbers, log lines, metrics and traces: what is counted, how long it took, and by what it is found."""

import importlib
import json
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from core.chunks import Chunk, Completed, TextChunk, Usage
from core.entries import ToolCall
from core.errors import DefinitionError, ModelRefused
from core.facts import (
    CallEnded,
    Committed,
    Entered,
    Fact,
    InputTaken,
    MessageLeft,
    ModelAnswered,
    ModelAsked,
    ModelFailed,
    RaceLost,
    Settled,
    ThreadSeen,
)
from core.prices import Price
from core.request import ModelRequest
from core.slice.notices import SILENT, CallStarted
from handlers.metrics import MetricLines
from handlers.telemetry import Telemetry
from handlers.tracing import x_ray
from handlers.watch import SliceWatch, WatchedModel
from infra.memory import MemoryClock
from tests.support.listening import Kept, listening
from tests.support.world import START

SEEN = ThreadSeen("t1", 0, None, "teller", "c" * 26, 4)
USAGE = Usage(input_tokens=1_000_000, output_tokens=200_000, cached_tokens=400_000)
ANSWERED = (ModelAsked("bedrock:one", 1), ModelAnswered("end_turn", USAGE))
PRICES = {"bedrock:one": Price(input=3, output=15, cached=0.3)}
SLICE: tuple[Fact, ...] = (
    *(Entered("load"), Entered("settle"), Entered("accept"), SEEN),
    *(InputTaken("user_message", "m1", "accepted"), InputTaken("user_message", "m1", "duplicate")),
    *(Entered("round"), *ANSWERED, Entered("commit"), Committed(5, 9, 2, 1, {"assistant_message": 1})),
    *(CallEnded("a", "interrupted"), CallEnded("b", "timed_out"), CallEnded("c", "ok"), RaceLost()),
    *(Entered("dispatch"), Settled(5, {"output": 1}, (MessageLeft("o", "delay", "slow", carried=True),))),
)


def telemetry(trace: Any = None) -> Telemetry:
    """Its stopwatch moves a second each time it is looked at."""
    ticks = count()
    return Telemetry(MetricLines("Torpor/s", "agent", PRICES), trace, lambda: float(next(ticks)))


def watched(*facts: Fact, error: Exception | None = None, trace: Any = None) -> Kept:
    """A slice of which these facts are told."""
    with listening() as kept:
        try:
            with SliceWatch(telemetry(trace), SILENT, "t1~c", "c" * 26) as watch:
                for fact in facts:
                    watch.hear(fact)
                if error is not None:
                    raise error
        except ValueError:
            pass
    return kept


def test_the_line_of_a_slice_says_how_it_ended_what_it_did_and_how_long_each_phase_took() -> None:
    (line,) = watched(*SLICE).of("slice")
    assert (line["outcome"], line["commit"], line["model_tries"], line["stale_commits"]) == ("done", 5, 1, 1)
    assert line["ms"] == 1000.0 * (len(SLICE) + 1)
    assert line["ms_by_phase"] == {
        name: ms
        for name, ms in zip(
            ("load", "settle", "accept", "round", "commit", "dispatch"),
            (1000.0, 1000.0, 4000.0, 3000.0, 6000.0, 2000.0),
            strict=True,
        )
    }
    ids = {key: line[key] for key in ("thread_id", "root_thread_id", "correlation_id", "agent")}
    assert ids == {"thread_id": "t1~c", "root_thread_id": "t1", "correlation_id": "c" * 26, "agent": "teller"}


def test_a_slice_that_dies_is_logged_and_counted_too() -> None:
    kept = watched(Entered("load"), error=ValueError("secret words"))
    (line,) = kept.of("slice")
    assert line["outcome"] == "ValueError"
    assert (kept.metrics[0]["Slices"], kept.metrics[0]["FailedSlices"]) == ([1], [1])
    assert "secret" not in "".join(kept.texts)


def test_metrics_of_a_slice_are_one_line_with_few_dimensions() -> None:
    (line,) = watched(*SLICE).metrics
    by_function, by_model = line["_aws"]["CloudWatchMetrics"]
    assert (by_function["Dimensions"], by_model["Dimensions"]) == ([["function"]], [["agent", "model"]])
    assert (line["function"], line["agent"], line["model"]) == ("agent", "teller", "bedrock:one")
    assert {by_function["Namespace"], by_model["Namespace"]} == {"Torpor/s"}
    told = {m["Name"]: line[m["Name"]] for one in (by_function, by_model) for m in one["Metrics"]}
    counted = {
        "Slices": 1,
        "Commits": 1,
        "StaleCommits": 1,
        "Duplicates": 1,
        "Interruptions": 1,
        "LateCalls": 1,
    }
    tokens = {"InputTokens": 1_000_000, "OutputTokens": 200_000, "CachedTokens": 400_000, "Completions": 1}
    assert {
        name: [value] for name, value in (counted | tokens | {"CarriedMessages": 1}).items()
    }.items() <= told.items()
    assert (told["ModelTime"], told["LoadTime"], told["DispatchTime"]) == ([1000], [1000], [2000])
    assert told["CostEstimate"] == [pytest.approx(0.6 * 3 + 0.4 * 0.3 + 0.2 * 15)]


def test_another_model_of_the_same_slice_has_a_line_of_its_own_and_without_a_price_no_cost() -> None:
    other = (ModelAsked("bedrock:two", 1), ModelFailed("ModelUnavailable"))
    first, second = watched(SEEN, *ANSWERED, *other).metrics
    assert (first["model"], second["model"]) == ("bedrock:one", "bedrock:two")
    assert "Slices" in first
    assert {"Slices", "CostEstimate", "Completions"} & second.keys() == set()
    assert second["ModelFailures"] == [1]


def test_a_price_counts_what_comes_from_a_cache_apart_and_nothing_below_none() -> None:
    assert Price(input=3, output=15).of(USAGE) == pytest.approx(3 + 3)
    assert Price(input=3, output=15).of(Usage(input_tokens=-5, output_tokens=-5, cached_tokens=9)) == 0
    for wrong in (
        {"input": -1, "output": 1},
        {"input": "3", "output": 1},
        {"input": 1, "output": 1, "cached": -1},
    ):
        with pytest.raises(DefinitionError):
            Price(**wrong)


class Talking:
    """Says one thing, or fails; `open` until its stream is closed."""

    context_window, signs_reasoning = 7, True

    def __init__(self, error: Exception | None) -> None:
        self._error = error
        self.open = False

    async def stream(self, request: ModelRequest, *, timeout_seconds: float) -> AsyncGenerator[Chunk, None]:
        self.open = True
        try:
            yield TextChunk("secret")
            if self._error is not None:
                raise self._error
            yield Completed("end_turn", USAGE)
        finally:
            self.open = False


@pytest.mark.parametrize(
    ("error", "takes", "told"),
    [
        (None, 9, ModelAnswered("end_turn", USAGE)),
        (ModelRefused("secret"), 9, ModelFailed("ModelRefused")),
        (None, 1, ModelFailed(None)),
    ],
    ids=["answers", "refuses", "is given up"],
)
async def test_a_watched_model_tells_how_each_try_went(error: Any, takes: int, told: Fact) -> None:
    facts: list[Fact] = []
    model = Talking(error)
    hearing = type("Hearing", (), {"hear": lambda self, fact: facts.append(fact)})()
    one = WatchedModel(model, hearing)
    stream = one.stream(ModelRequest("test:m", ()), timeout_seconds=1.0)
    chunks = []
    try:
        async for chunk in stream:
            chunks.append(chunk)
            if len(chunks) == takes:
                break
    except ModelRefused:
        pass
    await stream.aclose()
    assert facts == [ModelAsked("test:m", 1), told]
    assert (one.context_window, one.signs_reasoning, model.open) == (7, True, False)


def test_an_inline_tools_time_is_a_phase_of_its_own() -> None:
    with listening() as kept, SliceWatch(telemetry(), SILENT, "t1", None) as watch:
        watch.hear(Entered("round"))
        for worker in (None, None, "vault"):
            watch.notice(CallStarted(ToolCall(call_id="c", name="hush"), worker))
    assert list(kept.of("slice")[0]["ms_by_phase"]) == ["round", "tools"]


class Sent:
    """What the recorder would send to X-Ray."""

    def __init__(self) -> None:
        self.segments: list[dict[str, Any]] = []

    def send_entity(self, entity: Any) -> None:
        self.segments.append(json.loads(entity.serialize()))


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sent]:
    """As on Lambda, but that nothing leaves this process."""
    core: Any = importlib.import_module("aws_xray_sdk.core")
    context: Any = importlib.import_module("aws_xray_sdk.core.context")
    monkeypatch.setenv("LAMBDA_TASK_ROOT", "/var/task")
    core.xray_recorder.emitter._socket.close()
    sent = Sent()
    core.xray_recorder.configure(sampling=False, context=context.Context(), emitter=sent)
    core.xray_recorder.begin_segment("function")
    yield sent
    core.xray_recorder.clear_trace_entities()


def test_a_trace_has_a_subsegment_per_slice_and_one_per_part_of_it_under_the_instants_measured(
    sent: Sent,
) -> None:
    trace = x_ray(MemoryClock(START))
    watched(*SLICE, trace=trace)
    watched(SEEN, error=ValueError("secret"), trace=trace)
    trace.recorder.end_segment()
    (one,) = (part for part in sent.segments if part["name"] == "slice" and "fault" not in part)
    (died,) = (part for part in sent.segments if "fault" in part)
    found = {"root_thread_id": "t1", "agent": "teller", "commit": 5, "correlation_id": "c" * 26}
    assert (one["annotations"], one["end_time"]) == (found, START.timestamp())
    parts = {part["name"]: part for part in sent.segments if part.get("parent_id") == one["id"]}
    assert {"load", "round", "model", "dispatch"} <= parts.keys()
    lasted = [parts[name]["end_time"] - parts[name]["start_time"] for name in ("load", "model")]
    assert lasted == [pytest.approx(1.0)] * 2
    assert died["annotations"]["commit"] == 4
    assert "secret" not in json.dumps(sent.segments)


def test_metrics_are_the_stacks_own() -> None:
    lines = Telemetry.read({"TORPOR_STACK": "shop"}, "worker:desk", {}).lines
    run = json.loads(replace(lines).of_run(12.5, "failed"))
    assert run["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "Torpor/shop"
    assert (run["function"], run["WorkerTime"], run["WorkerFailures"]) == ("worker:desk", [12.5], [1])
