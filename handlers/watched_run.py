"""`WatchedRun`: what a worker does with one message, from entry to exit, as a log line, metrics and a trace."""

from types import TracebackType

from core.errors import Refused
from core.ids import root_of
from core.work_messages import parse_work
from handlers.records import QueueRecord
from handlers.telemetry import Telemetry


class WatchedRun:
    """Of one message. `result` is set by who handles it; until then it has failed."""

    def __init__(self, telemetry: Telemetry, record: QueueRecord) -> None:
        self._telemetry = telemetry
        self._record = record
        self._began = telemetry.seconds()
        self.result = "failed"

    def __enter__(self) -> "WatchedRun":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._telemetry.ran(self._began, self.result, _ids(self._record))


def _ids(record: QueueRecord) -> dict[str, str]:
    """Of the message; none of a body that is no work message. A tool's name is no id: a model may have made it up."""
    try:
        message = parse_work(record.body)
    except Refused:
        return {}
    own = {"type": message.type, "thread_id": message.thread_id, "call_id": message.call_id}
    correlation = {"correlation_id": record.correlation_id} if record.correlation_id else {}
    return {**own, "root_thread_id": root_of(message.thread_id), **correlation}
