"""What a worker does with one message of its queue: begin the record, run the tool, record the result, answer.

The answer is sent before the message is acknowledged, and every step may happen twice: the record sees to it that one
result stands (invariants *once* and *never stuck*).
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal, Protocol, assert_never

from core.answers import answer, asked, question, recorded
from core.clock import Clock
from core.errors import RetryableError
from core.ids import root_of
from core.ports import Outgoing
from core.tools import Tool, ToolContext, ToolResult, ToolRun, error_result
from core.tools.asking import Answered, Ask
from core.tools.run import run_or_ask
from core.work import (
    AlreadyRunning,
    Asked,
    Asking,
    Cancelled,
    Finished,
    RecordedResult,
    Started,
    WorkRecords,
)
from core.work_messages import ToolAnswerMessage, ToolCallMessage, ToolCancelMessage, parse_work

RESERVE_SECONDS = 3.0
"""Of an invocation's time: for recording and answering after the run."""
LEASE_MARGIN_SECONDS = 10.0
"""What a lease lasts longer than the run it protects."""
MAX_QUESTIONS = 8
"""Of one call: what a record holds of answers with long comments."""

Action = Literal["answered", "asked", "cancelled", "dropped"]
"""What was done with a message: the call was answered; a person was asked about it; a tombstone was left; nobody waits
for it, nothing was done."""

Run = Callable[[tuple[Answered, ...]], Awaitable[RecordedResult | Ask]]
"""Runs a call that people have answered so, to its end or its next question."""


class CallRunning(RetryableError):
    """Another attempt holds the call's lease. Deliver this message again when the lease is over."""


class OutOfTime(RetryableError):
    """This invocation has no time left to run anything."""


class Sender(Protocol):
    """Sends one message."""

    def send(self, message: Outgoing) -> None:
        """Returns when the queue has it; sending it again is harmless.

        Raises a RetryableError if it is not confirmed, a PermanentError if it can never be sent.
        """
        ...


@dataclass(frozen=True, slots=True)
class Answering:
    """What answering a call needs, whoever does it."""

    records: WorkRecords
    sender: Sender
    clock: Clock
    worker: str = ""
    """Whose calls: each worker's records lie apart, so that its role need not reach another's."""

    def record_of(self, call_id: str) -> str:
        """What the call's record is known by. No worker's name has a `#`: what begins so is this worker's."""
        return f"{self.worker}#{call_id}"

    async def answer(self, call: ToolCallMessage, attempt: str, lease_seconds: float, run: Run) -> Action:
        """Answer `call` with the one result that stands, or ask; `run` is called if there is neither yet.

        Raises CallRunning while another attempt holds the lease.
        """
        now = self.clock.now()
        lease_until = now + timedelta(seconds=lease_seconds)
        begun = self.records.begin(
            self.record_of(call.call_id), attempt=attempt, lease_until=lease_until, now=now
        )
        standing = await self._run(call, begun.answers, run) if isinstance(begun, Started) else begun
        match standing:
            case AlreadyRunning():
                raise CallRunning(f"call {call.call_id} is run by another attempt")
            case Cancelled():
                return "dropped"
            case Asking(body=body):
                self.sender.send(asked(call, body))
                return "asked"
            case Finished(result=result):
                self.sender.send(answer(call, result))
                return "answered"
            case _:
                assert_never(standing)

    async def _run(self, call: ToolCallMessage, answers: tuple[Answered, ...], run: Run) -> Asked:
        ended, record = await run(answers), self.record_of(call.call_id)
        if not isinstance(ended, RecordedResult) and len(answers) >= MAX_QUESTIONS:
            ended = recorded(call, error_result(f"one call asks at most {MAX_QUESTIONS} questions"))
        if isinstance(ended, RecordedResult):
            return self.records.finish(record, ended, now=self.clock.now())
        return self.records.ask(record, question(call, len(answers), ended), now=self.clock.now())

    def answered(self, message: ToolAnswerMessage) -> ToolCallMessage | None:
        """Take a person's answer, once; returns the call that goes on with it. None: nobody waits for it."""
        given = Answered(choice=message.choice, comment=message.comment)
        now, asked_by = self.clock.now(), message.question
        call = self.records.answer(self.record_of(message.call_id), given, question_id=asked_by, now=now)
        recorded_call = None if call is None else parse_work(call)
        return recorded_call if isinstance(recorded_call, ToolCallMessage) else None


@dataclass(frozen=True, slots=True)
class Worker:
    """The worker of one name."""

    name: str
    tools: Mapping[str, Tool]
    answering: Answering

    async def handle(self, body: str, attempt: str, time_left_seconds: float) -> Action:
        """Handle one message; when this returns, it may be acknowledged.

        Raises Refused for a body that is no work message: nobody can be answered, it belongs to the dead letters.
        """
        message = parse_work(body)
        match message:
            case ToolCancelMessage(call_id=call_id):
                record = self.answering.record_of(call_id)
                self.answering.records.cancel(record, now=self.answering.clock.now())
                return "cancelled"
            case ToolAnswerMessage():
                call = self.answering.answered(message)
                if call is None:
                    return "dropped"
                return await self._call(call, attempt, time_left_seconds - RESERVE_SECONDS)
            case ToolCallMessage():
                return await self._call(message, attempt, time_left_seconds - RESERVE_SECONDS)
            case _:
                assert_never(message)

    async def _call(self, call: ToolCallMessage, attempt: str, time_left_seconds: float) -> Action:
        if time_left_seconds <= 0:
            raise OutOfTime(f"no time left to run call {call.call_id}")
        until_deadline = (call.deadline - self.answering.clock.now()).total_seconds()
        tool = self.tools.get(call.name)
        wanted_seconds = tool.timeout_seconds if tool else 0.0
        run_seconds = max(0.0, min(wanted_seconds, time_left_seconds, until_deadline))

        async def run(answers: tuple[Answered, ...]) -> RecordedResult | Ask:
            if until_deadline <= 0:
                late = error_result("the deadline passed before the call was started")
                return recorded(call, late, timed_out=True)
            if tool is None:
                return recorded(call, self._unknown(call.name))
            run = await _run(replace(tool, timeout_seconds=run_seconds), call, answers)
            if not isinstance(run, ToolRun):
                return run
            return recorded(call, run.result, timed_out=run.outcome == "timed_out")

        return await self.answering.answer(call, attempt, run_seconds + LEASE_MARGIN_SECONDS, run)

    def _unknown(self, name: str) -> ToolResult:
        there = ", ".join(sorted(self.tools)) or "none"
        return error_result(f"worker {self.name!r} has no tool {name!r}; its tools are: {there}")


async def _run(tool: Tool, call: ToolCallMessage, answers: tuple[Answered, ...]) -> ToolRun | Ask:
    context = ToolContext(
        thread_id=call.thread_id,
        root_thread_id=root_of(call.thread_id),
        thread_stack=(*call.thread_ancestors, call.thread_id),
        call_id=call.call_id,
        user_id=call.user_id,
        metadata=call.metadata,
        deadline=call.deadline,
        answers=answers,
    )
    return await run_or_ask(tool, call.args, context)
