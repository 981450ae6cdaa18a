"""What one slice took: counts, seconds by phase, tries of completions. For its log line, metrics and trace alike."""

from collections import Counter
from dataclasses import dataclass, field
from typing import assert_never

from core.chunks import Usage
from core.facts import (
    CallDispatched,
    CallEnded,
    Committed,
    Entered,
    Fact,
    InputTaken,
    ModelAnswered,
    ModelAsked,
    ModelFailed,
    Phase,
    RaceLost,
    Settled,
    ThreadSeen,
    ThreadSpawned,
    TimerArmed,
    WakeArmed,
)

OUTCOMES = {"interrupted": "interruptions", "timed_out": "late_calls"}
"""Ends of calls that are counted apart."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time, by the stopwatch."""

    name: str
    began: float
    ended: float

    @property
    def seconds(self) -> float:
        return self.ended - self.began


@dataclass(frozen=True, slots=True)
class ModelTry:
    """A try of a completion. `usage` None: it failed."""

    model: str
    attempt: int
    span: Span
    usage: Usage | None = None
    stop_reason: str | None = None
    error: str | None = None


@dataclass(slots=True)
class SliceNumbers:
    """Of one slice, filled while it runs. `now` is always the stopwatch's, in seconds."""

    began: float
    ended: float = 0.0
    failed: bool = False
    seen: ThreadSeen | None = None
    commit: int | None = None
    """The newest one made."""
    counts: Counter[str] = field(default_factory=Counter)
    spans: list[Span] = field(default_factory=list)
    tries: list[ModelTry] = field(default_factory=list)
    _phase: Phase | None = None
    _phase_began: float = 0.0
    _asked: ModelAsked | None = None
    _asked_at: float = 0.0

    @property
    def span(self) -> Span:
        """The slice as a whole."""
        return Span("slice", self.began, self.ended)

    @property
    def phase(self) -> Phase | None:
        """The one the slice is in."""
        return self._phase

    @property
    def seconds_by_phase(self) -> dict[str, float]:
        """Each phase's, all its stretches together."""
        seconds = dict[str, float]()
        for span in self.spans:
            seconds[span.name] = seconds.get(span.name, 0.0) + span.seconds
        return seconds

    def hear(self, fact: Fact, now: float) -> None:
        """Count a fact."""
        match fact:
            case Entered(phase=phase):
                self._leave_phase(now)
                self._phase, self._phase_began = phase, now
            case ModelAsked():
                self._asked, self._asked_at = fact, now
            case ModelAnswered() | ModelFailed():
                self._end_try(fact, now)
            case ThreadSeen():
                self.seen = fact
            case _:
                self._count(fact)

    def end(self, now: float, *, failed: bool) -> None:
        """The slice is over. `failed`: its inputs come again."""
        self._leave_phase(now)
        self.failed = failed
        self.ended = now

    def _count(
        self,
        fact: InputTaken
        | Committed
        | CallDispatched
        | CallEnded
        | ThreadSpawned
        | WakeArmed
        | TimerArmed
        | Settled
        | RaceLost,
    ) -> None:
        match fact:
            case InputTaken(result=result):
                self.counts[f"inputs_{result}"] += 1
            case Committed(commit=commit):
                self.commit = commit
                self.counts["commits"] += 1
            case CallDispatched():
                self.counts["calls"] += 1
            case CallEnded(outcome=outcome) if outcome in OUTCOMES:
                self.counts[OUTCOMES[outcome]] += 1
            case ThreadSpawned():
                self.counts["spawns"] += 1
            case Settled(left=left):
                for one in left:
                    self.counts["carried" if one.carried else "undeliverable"] += 1
            case RaceLost():
                self.counts["stale_commits"] += 1
            case CallEnded() | WakeArmed() | TimerArmed():
                pass
            case _:
                assert_never(fact)

    def _leave_phase(self, now: float) -> None:
        if self._phase is not None:
            self.spans.append(Span(self._phase, self._phase_began, now))
        self._phase = None

    def _end_try(self, fact: ModelAnswered | ModelFailed, now: float) -> None:
        if self._asked is None:
            return
        asked, span = self._asked, Span("model", self._asked_at, now)
        self._asked = None
        if isinstance(fact, ModelAnswered):
            ended = ModelTry(asked.model, asked.attempt, span, fact.usage, stop_reason=fact.stop_reason)
        else:
            self.counts["model_failures"] += 1
            ended = ModelTry(asked.model, asked.attempt, span, error=fact.error or "TimeUp")
        self.tries.append(ended)
