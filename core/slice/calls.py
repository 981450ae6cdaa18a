"""A turn's calls: each is run here, opened for its worker, or answered at once with what is wrong with it.

Every call gets exactly one answer, and nothing half-received is ever run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from core.agent import Agent
from core.blocks import Content, text_content
from core.changes import CallOpened
from core.child_messages import SPAWN_TOOL
from core.entries import Outcome, ToolCall, ToolResult
from core.history.manager import HistoryManager
from core.history.subscriptions import NOT_OPENED, is_full
from core.outbox import SendCall, SendStarted
from core.ports import Observer
from core.slice.builtin import Caller, Told, Waits, act
from core.slice.builtin.close import closing_call
from core.slice.inline import RunHere, Running, run_inline, take_run
from core.slice.notices import CallAnswered, CallStarted
from core.slice.questions import ask
from core.slice.requests import given_before
from core.thread import LiveCall, Question
from core.tools import EVENT_TOOL_NAME, BadArguments, Tool, validate_arguments
from core.tools.approval import needs_approval

CUT_OFF_REASONS = frozenset({"max_tokens", "length", "model_context_window_exceeded"})
LIMIT_NOTE = "Limit reached: this call was not run. Answer with what there is."
DROPPED_NOTE = "Not run: this thread closed itself in the same turn."
EVENT_NOTE = (
    f"{EVENT_TOOL_NAME} is no tool: events come by themselves. What its results say has happened already."
)
ABANDONED_NOTE = "Not run: the answer that held this call was cut off."


@dataclass(frozen=True, slots=True)
class SendToWorker:
    call: ToolCall
    tool: Tool
    worker: str


@dataclass(frozen=True, slots=True)
class AskFirst:
    """A person must approve the call before it is run."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ActHere:
    """A built-in call: it changes the thread itself."""

    call: ToolCall
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AnswerAtOnce:
    call: ToolCall
    note: str
    outcome: Outcome = "error"


Plan = RunHere | SendToWorker | AskFirst | ActHere | AnswerAtOnce


def plan_calls(calls: Sequence[ToolCall], agent: Agent, stop_reason: str, ends_in_call: bool) -> list[Plan]:
    """What to do with each call of a turn. A call that the output limit may have cut is not run."""
    cut_off = calls[-1].call_id if calls and ends_in_call and stop_reason in CUT_OFF_REASONS else None
    plans = [_plan(call, agent, call.call_id == cut_off) for call in calls]
    return _within_spawn_limit(plans, agent.limits.spawns_per_turn)


def _within_spawn_limit(plans: list[Plan], most: int) -> list[Plan]:
    spawns = [plan for plan in plans if isinstance(plan, ActHere) and plan.call.name == SPAWN_TOOL]
    too_many = [plan.call.call_id for plan in spawns[most:]]
    note = f"Limit reached: one turn spawns at most {most} threads."
    return [AnswerAtOnce(p.call, note, "limit") if p.call.call_id in too_many else p for p in plans]


def closing_plan(plans: Sequence[Plan], thread_id: str) -> ActHere | None:
    """The call by which the thread closes itself, if there is one."""
    acts = [plan for plan in plans if isinstance(plan, ActHere)]
    call_id = closing_call([(plan.call, plan.arguments) for plan in acts], thread_id)
    return next((plan for plan in acts if plan.call.call_id == call_id), None)


def only(plan: Plan, plans: Sequence[Plan]) -> list[Plan]:
    """`plan` alone is carried out; the turn's other calls are answered unrun."""
    return [one if one is plan else AnswerAtOnce(one.call, DROPPED_NOTE, "interrupted") for one in plans]


def _plan(call: ToolCall, agent: Agent, cut_off: bool) -> Plan:
    tool = agent.offered.get(call.name)
    if call.name == EVENT_TOOL_NAME:
        return AnswerAtOnce(call, EVENT_NOTE)
    if tool is None:
        there_are = ", ".join(agent.offered) or "none"
        return AnswerAtOnce(call, f"There is no tool {call.name!r}. The tools there are: {there_are}.")
    if cut_off:
        return AnswerAtOnce(
            call, f"{call.name}: the call was cut off at the output limit (max_tokens) and not run."
        )
    if call.raw_args is not None:
        return AnswerAtOnce(call, f"{call.name}: the arguments must be a JSON object.")
    try:
        arguments = validate_arguments(tool, call.args)
    except BadArguments as error:
        return AnswerAtOnce(call, str(error))
    if tool.builtin:
        return ActHere(call, arguments)
    if needs_approval(tool, call.args):
        return AskFirst(call)
    return RunHere(call, tool) if tool.worker is None else SendToWorker(call, tool, tool.worker)


def limit_calls(calls: Sequence[ToolCall]) -> list[Plan]:
    """Every call answered "limit reached", none run."""
    return [AnswerAtOnce(call, LIMIT_NOTE, "limit") for call in calls]


def abandon_calls(calls: Sequence[ToolCall]) -> list[Plan]:
    """Every call of a turn that was given up answered, none run."""
    return [AnswerAtOnce(call, ABANDONED_NOTE) for call in calls]


async def carry_out(caller: Caller, plans: Sequence[Plan], running: Running) -> None:
    """Run the inline calls at once; append results in call order; open the workers' calls.

    What the calls add to the application's log follows the results.
    """
    manager, observer = caller.manager, running.observer
    runs = await run_inline(caller, [plan for plan in plans if isinstance(plan, RunHere)], running)
    for plan in plans:
        match plan:
            case AnswerAtOnce(call=call, note=note, outcome=outcome):
                _answer(manager, observer, call, text_content(note), outcome)
            case RunHere(call=call):
                result = take_run(caller, plan, runs)
                subscribes = runs.by_call[call.call_id].result.subscription
                refused = text_content(NOT_OPENED) if subscribes and is_full(manager.state) else ()
                _answer(manager, observer, call, (*refused, *result.content), result.outcome)
                if subscribes:
                    manager.track_subscription(call.call_id)
            case AskFirst(call=call):
                expires_at = running.now + timedelta(seconds=caller.agent.limits.approval_seconds)
                ask(manager, call.call_id, Question(kind="approval", expires_at=expires_at))
            case ActHere(call=call, arguments=arguments):
                observer.notice(CallStarted(call, None))
                _act(caller, call, arguments, observer)
            case SendToWorker():
                _open(manager, plan, running.now, observer)
    for message in runs.app:
        manager.draft.append(message.entry())


async def run_approved(caller: Caller, observer: Observer, seconds: float | None) -> None:
    """Run the inline calls that a person has approved, at once, each within `seconds`. None: they are given up."""
    approved = [live for live in caller.manager.state.live if live.approved_here]
    if not approved:
        return
    plans = [_approved_plan(caller, live, running=seconds is not None) for live in approved]
    messages = await given_before(caller.manager, caller.agent, approved[0].seq, seconds or 0.0)
    await carry_out(caller, plans, Running(caller.now, observer, seconds or 0.0, messages))


def _approved_plan(caller: Caller, live: LiveCall, *, running: bool) -> Plan:
    entry = caller.manager.draft.call_entry(live.call_id)
    tool = caller.agent.toolbox.get(live.name)
    if tool is None:
        return AnswerAtOnce(entry, f"{live.name}: approved, but there is no such tool here any more.")
    if not running:
        return AnswerAtOnce(entry, f"{live.name}: approved, but all tries to run it failed.")
    return RunHere(entry if live.args is None else entry.model_copy(update={"args": live.args}), tool)


def _act(caller: Caller, call: ToolCall, arguments: Mapping[str, Any], observer: Observer) -> None:
    match act(caller, call, arguments):
        case Told(content=content, outcome=outcome):
            _answer(caller.manager, observer, call, content, outcome)
        case Waits(until=until):
            opened = CallOpened(call_id=call.call_id, passive=True, until=until)
            caller.manager.draft.record(opened)


def _open(manager: HistoryManager, plan: SendToWorker, now: datetime, observer: Observer) -> None:
    call_id, worker = plan.call.call_id, plan.worker
    deadline_at = now + timedelta(seconds=plan.tool.deadline_seconds)
    manager.draft.record(CallOpened(call_id=call_id, worker=worker, deadline_at=deadline_at))
    manager.draft.send(SendCall(call_id=call_id, worker=worker, deadline_at=deadline_at))
    manager.draft.send(SendStarted(call_id=call_id))
    observer.notice(CallStarted(plan.call, worker))


def _answer(
    manager: HistoryManager, observer: Observer, call: ToolCall, content: Content, outcome: Outcome
) -> None:
    manager.answer_call(call.call_id, content, outcome)
    observer.notice(CallAnswered(ToolResult(call_id=call.call_id, content=content, outcome=outcome)))
