"""Running the inline calls of a turn: all at once, each within its time, on one state of the thread that they share.

Apart from the other calls because only these run an author's code inside the slice.
"""

import asyncio
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from core.changes import StateEdited
from core.content import storable
from core.delivery import user_id_of
from core.entries import ToolCall, ToolResult
from core.ports import Observer
from core.request import RequestMessage
from core.slice.builtin import Caller
from core.slice.notices import CallStarted
from core.slice.sources import add_sources
from core.slice.state import SharedState
from core.state.rebuilt import AppMessage
from core.state.results import UNFIT, with_patch, without_change
from core.state.shape import StateUnfit
from core.tools import Tool, ToolContext, ToolRun, error_result, run_tool


@dataclass(frozen=True, slots=True)
class RunHere:
    call: ToolCall
    tool: Tool

    @property
    def sees_state(self) -> bool:
        """Whether the tool has asked for its context."""
        return self.tool.signature.context_parameter is not None


@dataclass(frozen=True, slots=True)
class Running:
    """With what the calls of a turn are run."""

    now: datetime
    observer: Observer
    seconds: float
    """For each inline call."""
    messages: Sequence[RequestMessage] = ()
    """What the model was given when it made the calls."""


@dataclass(frozen=True, slots=True)
class InlineRuns:
    """How the inline calls of a turn ended."""

    by_call: dict[str, ToolRun]
    app: tuple[AppMessage, ...] = ()
    """What they added to the application's log."""
    unfit: StateUnfit | None = None
    """Why nothing of the state was kept: all that saw it are errors then."""


async def run_inline(caller: Caller, plans: Sequence[RunHere], running: Running) -> InlineRuns:
    """Run the calls, and record what they made of the state. None is run without the state that it asks for."""
    shared = None
    if any(plan.sees_state for plan in plans):
        try:
            shared = SharedState.of(caller.manager, caller.agent, running.messages)
        except StateUnfit as error:
            failed = ToolRun(error_result(UNFIT.format(error=error)), "error")
            blind = [plan for plan in plans if not plan.sees_state]
            runs = await _run_all(caller, blind, running, None)
            return InlineRuns({plan.call.call_id: failed for plan in plans} | runs)
    runs = await _run_all(caller, plans, running, shared)
    if shared is None:
        return InlineRuns(runs)
    try:
        return InlineRuns(runs, shared.keep(caller.manager))
    except StateUnfit as error:
        return InlineRuns(runs, unfit=error)


def take_run(caller: Caller, plan: RunHere, runs: InlineRuns) -> ToolResult:
    """The result of a call; its patch of the state, its sources and its subscription are recorded."""
    manager, call_id = caller.manager, plan.call.call_id
    run = runs.by_call[call_id]
    result = ToolResult(call_id=call_id, content=storable(run.result.content), outcome=run.outcome)
    if runs.unfit is not None and plan.sees_state:
        result = without_change(result, runs.unfit)
    else:
        state_type, stored = caller.agent.state_type, manager.state.stored_state
        result, edits = with_patch(result, run.result.state_patch, state_type, stored)
        if edits:
            manager.draft.record(StateEdited(edits=edits))
    add_sources(manager, run.result.sources)
    return result


async def _run_all(
    caller: Caller, plans: Sequence[RunHere], running: Running, shared: SharedState | None
) -> dict[str, ToolRun]:
    runs = await asyncio.gather(*(_run(caller, plan, running, shared) for plan in plans))
    return {plan.call.call_id: run for plan, run in zip(plans, runs, strict=True)}


async def _run(caller: Caller, plan: RunHere, running: Running, shared: SharedState | None) -> ToolRun:
    manager = caller.manager
    running.observer.notice(CallStarted(plan.call, None))
    seconds = min(running.seconds, plan.tool.timeout_seconds)
    context = ToolContext(
        thread_id=manager.thread_id,
        root_thread_id=manager.thread_stack[0],
        thread_stack=manager.thread_stack,
        call_id=plan.call.call_id,
        user_id=user_id_of(manager.metadata),
        metadata=manager.metadata,
        deadline=running.now + timedelta(seconds=seconds),
        state=None if shared is None else shared.built.value,
    )
    return await run_tool(replace(plan.tool, timeout_seconds=seconds), deepcopy(plan.call.args), context)
