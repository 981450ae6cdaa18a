"""Invocations that die at a named point: ports of the functions' containers, wrapped by `LocalTorpor`'s seam."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from core.delivery import OUTPUT
from core.ports import Outgoing, Unsent
from core.tools.asking import Answered
from core.work import Asked, Begun, Ended, Question, RecordedResult


class Killed(BaseException):
    """The process is gone: nothing after this runs, not even the boundary of the batch."""


@dataclass
class Killer:
    """Dies at a point, the `first`th to `last`th time that it is reached; points are named where they are tried."""

    point: str = ""
    first: int = 1
    last: int = 1
    reached: Counter[str] = field(default_factory=Counter)

    def aim(self, point: str, first: int = 1, last: int | None = None) -> None:
        """From now on, counted anew."""
        self.point, self.first, self.last = point, first, last or first
        self.reached.clear()

    def maybe(self, point: str) -> None:
        self.reached[point] += 1
        if point == self.point and self.first <= self.reached[point] <= self.last:
            raise Killed(point)

    @property
    def kills(self) -> int:
        """How often something died."""
        return max(0, min(self.reached[self.point], self.last) - self.first + 1)

    def wrap(self, function: str, container: Any) -> Any:
        """As `infra.local.WrapPorts`: the agent's and the workers' invocations die, the others live."""
        if function == "agent":
            ports = container.ports
            store, dispatcher = DyingStore(ports.store, self), DyingDispatcher(ports.dispatcher, self)
            return replace(container, ports=replace(ports, store=store, dispatcher=dispatcher))
        if function.startswith("worker:"):
            answering = container.worker.answering
            dying = DyingWork(answering.records, answering.sender, self)
            answering = replace(answering, records=dying, sender=dying)
            return replace(container, worker=replace(container.worker, answering=answering))
        return container


def on_each_side(name: str) -> Callable[..., Any]:
    """A coroutine method of a port that passes on, and may die before and after."""

    async def method(self: Any, *arguments: Any, **more: Any) -> Any:
        self.killer.maybe(f"before {name}")
        result = await getattr(self.port, name)(*arguments, **more)
        self.killer.maybe(f"after {name}")
        return result

    return method


@dataclass(frozen=True)
class DyingStore:
    """A thread store."""

    port: Any
    killer: Killer
    load = on_each_side("load")
    inherit = on_each_side("inherit")
    mark = on_each_side("mark")
    commit = on_each_side("commit")
    settled = on_each_side("settled")
    park = on_each_side("park")
    entries = on_each_side("entries")


@dataclass(frozen=True)
class DyingDispatcher:
    """A dispatcher that may also die with some messages sent and some not."""

    port: Any
    killer: Killer

    async def send(self, messages: Sequence[Outgoing]) -> tuple[Unsent, ...]:
        self.killer.maybe("before dispatch")
        first = [message for message in messages if message.queue != OUTPUT][:1]
        if first and len(messages) > 1:
            await self.port.send(first)
            self.killer.maybe("in mid-dispatch")
        unsent: tuple[Unsent, ...] = await self.port.send(messages)
        self.killer.maybe("after dispatch")
        return unsent


@dataclass(frozen=True)
class DyingWork:
    """A worker's records and its sender."""

    records: Any
    sender: Any
    killer: Killer

    def begin(self, call_id: str, *, attempt: str, lease_until: datetime, now: datetime) -> Begun:
        self.killer.maybe("before the run")
        begun: Begun = self.records.begin(call_id, attempt=attempt, lease_until=lease_until, now=now)
        self.killer.maybe("while it is running")
        return begun

    def finish(self, call_id: str, result: RecordedResult, *, now: datetime) -> Ended:
        self.killer.maybe("after the run")
        ended: Ended = self.records.finish(call_id, result, now=now)
        self.killer.maybe("before the answer")
        return ended

    def ask(self, call_id: str, question: Question, *, now: datetime) -> Asked:
        self.killer.maybe("before asking")
        asked: Asked = self.records.ask(call_id, question, now=now)
        self.killer.maybe("after asking")
        return asked

    def answer(
        self, call_id: str, answered: Answered, *, question_id: str | None, now: datetime
    ) -> str | None:
        self.killer.maybe("before an answer is taken")
        call: str | None = self.records.answer(call_id, answered, question_id=question_id, now=now)
        self.killer.maybe("after an answer is taken")
        return call

    def cancel(self, call_id: str, *, now: datetime) -> None:
        self.records.cancel(call_id, now=now)

    def send(self, message: Outgoing) -> None:
        self.sender.send(message)
        self.killer.maybe("after the answer")
