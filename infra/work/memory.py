"""`MemoryWorkRecords`: the `WorkRecords` port in dictionaries."""

from dataclasses import dataclass, field
from datetime import datetime

from core.tools.asking import Answered
from core.work import (
    AlreadyRunning,
    Asked,
    Asking,
    Begun,
    Cancelled,
    Ended,
    Finished,
    Question,
    RecordedResult,
    Started,
)


@dataclass(frozen=True, slots=True)
class _Running:
    """`attempt` None: nobody's, until one begins again."""

    attempt: str | None
    until: datetime


@dataclass(frozen=True, slots=True)
class MemoryWorkRecords:
    """As the port says; keeps everything."""

    _records: dict[str, _Running | Asking | Ended] = field(default_factory=dict)
    _questions: dict[str, Question] = field(default_factory=dict)
    """The newest of each call that asked, whatever has become of it."""
    _answers: dict[str, dict[str, Answered]] = field(default_factory=dict)
    """By call, and by the id of the question."""

    def begin(self, call_id: str, *, attempt: str, lease_until: datetime, now: datetime) -> Begun:
        """As the port says."""
        match self._records.get(call_id):
            case Finished() | Cancelled() | Asking() as standing:
                return standing
            case _Running(attempt=other, until=until) if other != attempt and until > now:
                return AlreadyRunning(until)
        self._records[call_id] = _Running(attempt, lease_until)
        return Started(tuple(self._answers.get(call_id, {}).values()))

    def finish(self, call_id: str, result: RecordedResult, *, now: datetime) -> Ended:  # noqa: ARG002 - the port's
        """As the port says."""
        match self._records.get(call_id):
            case Finished() | Cancelled() as ended:
                return ended
        ended = Finished(result.model_copy(deep=True))
        self._records[call_id] = ended
        return ended

    def ask(self, call_id: str, question: Question, *, now: datetime) -> Asked:  # noqa: ARG002 - the port's
        """As the port says."""
        match self._records.get(call_id):
            case Finished() | Cancelled() | Asking() as standing:
                return standing
            case _Running(until=until) if len(self._answers.get(call_id, {})) != question.number:
                return AlreadyRunning(until)
        self._records[call_id] = asking = Asking(question.body)
        self._questions[call_id] = question
        return asking

    def answer(
        self, call_id: str, answered: Answered, *, question_id: str | None, now: datetime
    ) -> str | None:
        """As the port says."""
        standing, question = self._records.get(call_id), self._questions.get(call_id)
        if question is None or isinstance(standing, Cancelled):
            return None
        answers = self._answers.setdefault(call_id, {})
        if isinstance(standing, Asking) and question_id in (None, question.id):
            answers[question.id] = answered
            self._records[call_id] = _Running(None, now)
            return question.call
        goes_on = isinstance(standing, Finished) or (bool(answers) and question_id in (None, *answers))
        return question.call if goes_on else None

    def cancel(self, call_id: str, *, now: datetime) -> None:  # noqa: ARG002 - the port's
        """As the port says."""
        if not isinstance(self._records.get(call_id), Finished):
            self._records[call_id] = Cancelled()
