"""`MemoryWorkRecords`: the `WorkRecords` port in a dictionary."""

from dataclasses import dataclass, field
from datetime import datetime

from core.work import AlreadyRunning, Begun, Cancelled, Ended, Finished, RecordedResult, Started


@dataclass(frozen=True, slots=True)
class _Running:
    attempt: str
    until: datetime


@dataclass(frozen=True, slots=True)
class MemoryWorkRecords:
    """As the port says; keeps everything."""

    _records: dict[str, _Running | Ended] = field(default_factory=dict)

    def begin(self, call_id: str, *, attempt: str, lease_until: datetime, now: datetime) -> Begun:
        """As the port says."""
        match self._records.get(call_id):
            case Finished() | Cancelled() as ended:
                return ended
            case _Running(attempt=other, until=until) if other != attempt and until > now:
                return AlreadyRunning(until)
        self._records[call_id] = _Running(attempt, lease_until)
        return Started()

    def finish(self, call_id: str, result: RecordedResult, *, now: datetime) -> Ended:  # noqa: ARG002 - the port's
        """As the port says."""
        match self._records.get(call_id):
            case Finished() | Cancelled() as ended:
                return ended
        ended = Finished(result.model_copy(deep=True))
        self._records[call_id] = ended
        return ended

    def cancel(self, call_id: str, *, now: datetime) -> None:  # noqa: ARG002 - the port's
        """As the port says."""
        if not isinstance(self._records.get(call_id), Finished):
            self._records[call_id] = Cancelled()
