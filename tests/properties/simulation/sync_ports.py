"""The synchronous ports of workers, the relay and the dead-letter handler, behind points that cannot wait."""

from dataclasses import dataclass
from datetime import datetime

from core.errors import StoreUnavailable
from core.ports import Outgoing
from core.tools.asking import Answered
from core.work import Asked, Begun, Ended, Question, RecordedResult
from infra.memory.dispatcher import MemorySender
from infra.queue_errors import QueueUnavailable
from infra.work.memory import MemoryWorkRecords

from .points import Invocation, PortFaults
from .watcher import Watcher

RECORD = PortFaults(
    before={"fail": lambda: StoreUnavailable("throttled")},
    after={"fail": lambda: StoreUnavailable("timed out, but it was done")},
)
SEND = PortFaults(
    before={"fail": lambda: QueueUnavailable("throttled")},
    after={"fail": lambda: QueueUnavailable("timed out, but it arrived")},
)


@dataclass(frozen=True, slots=True)
class HeldRecords:
    """The work records, by call: whose worker's they are is the handlers' to say, and held by functional tests."""

    who: Invocation
    records: MemoryWorkRecords
    watcher: Watcher

    def begin(self, call_id: str, *, attempt: str, lease_until: datetime, now: datetime) -> Begun:
        call = _call_of(call_id)

        def effect() -> Begun:
            begun = self.records.begin(call, attempt=attempt, lease_until=lease_until, now=now)
            self.watcher.begun(self.who, call, lease_until, begun)
            return begun

        return self.who.call_now("work.begin", effect, RECORD)

    def finish(self, call_id: str, result: RecordedResult, *, now: datetime) -> Ended:
        call = _call_of(call_id)

        def effect() -> Ended:
            ended = self.records.finish(call, result, now=now)
            self.watcher.finished(self.who, call, ended)
            return ended

        return self.who.call_now("work.finish", effect, RECORD)

    def ask(self, call_id: str, question: Question, *, now: datetime) -> Asked:
        call = _call_of(call_id)

        def effect() -> Asked:
            asked = self.records.ask(call, question, now=now)
            self.watcher.asked(self.who, call, asked)
            return asked

        return self.who.call_now("work.ask", effect, RECORD)

    def answer(
        self, call_id: str, answered: Answered, *, question_id: str | None, now: datetime
    ) -> str | None:
        call = _call_of(call_id)

        def effect() -> str | None:
            goes_on = self.records.answer(call, answered, question_id=question_id, now=now)
            self.watcher.answered(self.who, call, goes_on=goes_on is not None)
            return goes_on

        return self.who.call_now("work.answer", effect, RECORD)

    def cancel(self, call_id: str, *, now: datetime) -> None:
        call = _call_of(call_id)

        def effect() -> None:
            self.records.cancel(call, now=now)
            self.watcher.cancelled(self.who, call)

        self.who.call_now("work.cancel", effect, RECORD)


def _call_of(record: str) -> str:
    """What a record is known by begins with its worker."""
    return record.rpartition("#")[2]


@dataclass(frozen=True, slots=True)
class HeldSender:
    """The sender of single messages."""

    who: Invocation
    sender: MemorySender
    watcher: Watcher

    def send(self, message: Outgoing) -> None:
        def effect() -> None:
            self.sender.send(message)
            self.watcher.sent(self.who, message)

        self.who.call_now(f"send {message.queue}", effect, SEND)
