"""What a worker does with one message of its queue: begin the record, run the tool, record the result, answer.

The answer is sent before the message is acknowledged, and every step may happen twice: the record sees to it that one
result stands (invariants *once* and *never stuck*).
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal, Protocol, assert_never

from core.answers import answer, recorded
from core.clock import Clock
from core.errors import RetryableError
from core.ids import root_of
from core.ports import Outgoing
from core.tools import Tool, ToolContext, ToolResult, ToolRun, error_result, run_tool
from core.work import AlreadyRunning, Cancelled, Finished, RecordedResult, Started, WorkRecords
from core.work_messages import ToolCallMessage, ToolCancelMessage, parse_work

RESERVE_SECONDS = 3.0
"""Of an invocation's time: for recording and answering after the run."""
LEASE_MARGIN_SECONDS = 10.0
"""What a lease lasts longer than the run it protects."""

Action = Literal["answered", "cancelled", "dropped"]
"""What was done with a message: the call was answered; a tombstone was left; nobody waits for it, nothing was done."""


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

    async def answer(
        self,
        call: ToolCallMessage,
        attempt: str,
        lease_seconds: float,
        run: Callable[[], Awaitable[RecordedResult]],
    ) -> Action:
        """Answer `call` with the one result that stands; `run` makes it if there is none yet.

        Raises CallRunning while another attempt holds the lease.
        """
        now = self.clock.now()
        lease_until = now + timedelta(seconds=lease_seconds)
        begun = self.records.begin(call.call_id, attempt=attempt, lease_until=lease_until, now=now)
        match begun:
            case Started():
                result = await run()
                standing = self.records.finish(call.call_id, result, now=self.clock.now())
            case AlreadyRunning():
                raise CallRunning(f"call {call.call_id} is run by another attempt")
            case Finished() | Cancelled():
                standing = begun
            case _:
                assert_never(begun)
        if isinstance(standing, Cancelled):
            return "dropped"
        self.sender.send(answer(call, standing.result))
        return "answered"


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
                self.answering.records.cancel(call_id, now=self.answering.clock.now())
                return "cancelled"
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

        async def run() -> RecordedResult:
            if until_deadline <= 0:
                late = error_result("the deadline passed before the call was started")
                return recorded(call, late, timed_out=True)
            if tool is None:
                return recorded(call, self._unknown(call.name))
            run = await _run(replace(tool, timeout_seconds=run_seconds), call)
            return recorded(call, run.result, timed_out=run.outcome == "timed_out")

        return await self.answering.answer(call, attempt, run_seconds + LEASE_MARGIN_SECONDS, run)

    def _unknown(self, name: str) -> ToolResult:
        there = ", ".join(sorted(self.tools)) or "none"
        return error_result(f"worker {self.name!r} has no tool {name!r}; its tools are: {there}")


async def _run(tool: Tool, call: ToolCallMessage) -> ToolRun:
    context = ToolContext(
        thread_id=call.thread_id,
        root_thread_id=root_of(call.thread_id),
        thread_stack=(*call.thread_ancestors, call.thread_id),
        call_id=call.call_id,
        user_id=call.user_id,
        metadata=call.metadata,
        deadline=call.deadline,
    )
    return await run_tool(tool, call.args, context)
