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
    """The work records."""

    who: Invocation
    records: MemoryWorkRecords
    watcher: Watcher

    def begin(self, call_id: str, *, attempt: str, lease_until: datetime, now: datetime) -> Begun:
        def effect() -> Begun:
            begun = self.records.begin(call_id, attempt=attempt, lease_until=lease_until, now=now)
            self.watcher.begun(self.who, call_id, lease_until, begun)
            return begun

        return self.who.call_now("work.begin", effect, RECORD)

    def finish(self, call_id: str, result: RecordedResult, *, now: datetime) -> Ended:
        def effect() -> Ended:
            ended = self.records.finish(call_id, result, now=now)
            self.watcher.finished(self.who, call_id, ended)
            return ended

        return self.who.call_now("work.finish", effect, RECORD)

    def ask(self, call_id: str, question: Question, *, now: datetime) -> Asked:
        def effect() -> Asked:
            asked = self.records.ask(call_id, question, now=now)
            self.watcher.asked(self.who, call_id, asked)
            return asked

        return self.who.call_now("work.ask", effect, RECORD)

    def answer(
        self, call_id: str, answered: Answered, *, question_id: str | None, now: datetime
    ) -> str | None:
        def effect() -> str | None:
            call = self.records.answer(call_id, answered, question_id=question_id, now=now)
            self.watcher.answered(self.who, call_id, goes_on=call is not None)
            return call

        return self.who.call_now("work.answer", effect, RECORD)

    def cancel(self, call_id: str, *, now: datetime) -> None:
        def effect() -> None:
            self.records.cancel(call_id, now=now)
            self.watcher.cancelled(self.who, call_id)

        self.who.call_now("work.cancel", effect, RECORD)


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
