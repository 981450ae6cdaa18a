"""Sabotages of sleeps, questions and compactions: of what ends by itself, and of what people decide."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import core.accept.timer as timer
import core.slice.apply as apply
import core.slice.calls as calls
import core.slice.compaction as compaction
import core.slice.questions as questions
import core.spawning as spawning
from core.accept.effects import Approve, Effect, EndCompaction, EndSleep, Setting, TakeTimer
from core.entries import ToolResult
from core.history.draft import ThreadDraft
from core.history.manager import HistoryManager
from core.messages import Input
from core.thread import LiveCall, ThreadState

from . import Patch, Sabotage


def sleep_without_a_timer() -> Sequence[Patch]:
    def due_at(call: LiveCall) -> datetime | None:
        return call.deadline_at

    return [(LiveCall, "due_at", property(due_at))]


def sleep_that_is_over_at_once() -> Sequence[Patch]:
    def due(state: ThreadState, _: Setting) -> Iterator[Effect]:
        yield from (EndSleep(call.call_id) for call in state.live if call.passive)

    return [(timer, "_due", due)]


def any_timer_counts() -> Sequence[Patch]:
    def accepted(taken: Input, state: ThreadState, setting: Setting) -> tuple[Effect, ...]:
        return (TakeTimer(), *timer._due(state, setting))

    return [(timer, "accept", accepted)]


def question_left_open() -> Sequence[Patch]:
    def told(self: ThreadDraft, result: ToolResult, call: LiveCall) -> ToolResult:
        return result

    return [(ThreadDraft, "_told", told)]


def answered_again_and_again() -> Sequence[Patch]:
    reopen = questions._reopen

    def as_it_was(manager: HistoryManager, call: LiveCall, **changed: Any) -> None:
        reopen(manager, call, **{**changed, "question": call.question or changed["question"]})

    return [(questions, "_reopen", as_it_was)]


def edits_forgotten() -> Sequence[Patch]:
    approve = questions.approve

    def as_shown(manager: HistoryManager, approved: Approve) -> None:
        approve(manager, Approve(approved.call_id, approved.tool, None, approved.deadline_at))

    return [(apply, "approve", as_shown)]


def nobody_is_asked() -> Sequence[Patch]:
    return [(calls, "needs_approval", lambda *_: False)]


def default_told_as_an_answer() -> Sequence[Patch]:
    close = questions._close_question

    def closed(manager: HistoryManager, call: LiveCall, expired: bool) -> None:
        close(manager, call, False)

    return [(questions, "_close_question", closed)]


def blocked_for_ever() -> Sequence[Patch]:
    end = compaction.end_compaction

    def ended(manager: HistoryManager, agent: Any, ended: EndCompaction) -> None:
        end(manager, agent, ended)
        manager.draft.set_state(blocked=ended.text is None)

    def runnable(state: ThreadState) -> bool:
        return bool(state.owes and not state.live and not state.closed and not state.blocked)

    return [(apply, "end_compaction", ended), (ThreadState, "runnable", property(runnable))]


def summary_dropped() -> Sequence[Patch]:
    return [(HistoryManager, "apply_compaction", lambda self, summary: None)]


def compaction_without_a_deadline() -> Sequence[Patch]:
    begin = spawning.open_child

    def opened(draft: ThreadDraft, spawn: Any, child: Any) -> None:
        begin(draft, spawn, child.model_copy(update={"deadline_at": None}))

    return [(compaction, "open_child", opened)]


SABOTAGES = (
    Sabotage("a sleep that arms no timer", sleep_without_a_timer, ["sleep_that_runs_out"]),
    Sabotage("a sleep that an early timer ends", sleep_that_is_over_at_once, ["long_sleep"], seeds=60),
    Sabotage("a timer that nobody waits for counts", any_timer_counts, ["sleep_woken_by_text"]),
    Sabotage("a question left open by an interruption", question_left_open, ["approval_interrupted"]),
    Sabotage("a second answer runs the call again", answered_again_and_again, ["approval_given_twice"]),
    Sabotage("edited arguments forgotten", edits_forgotten, ["approval_edited"]),
    Sabotage("a call that nobody was asked about", nobody_is_asked, ["approval_edited"]),
    Sabotage("a default told as an answer", default_told_as_an_answer, ["choice_by_default"]),
    Sabotage("blocked by a compaction that failed", blocked_for_ever, ["compaction_that_fails"]),
    Sabotage("a summary that replaces nothing", summary_dropped, ["compaction_beside_a_call"]),
    Sabotage("a compaction without an end", compaction_without_a_deadline, ["compaction_that_never_ends"]),
)
