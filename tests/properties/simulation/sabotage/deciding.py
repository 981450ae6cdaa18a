"""Sabotages of ids, of what is owed, and of what a model is shown."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import core.history.buffer as buffer
import core.history.manager as manager
import core.render as render
import core.slice.run as run
from core.entries import ToolResult, TurnEnd, User
from core.history.draft import ThreadDraft
from core.history.manager import HistoryManager
from core.messages import ToolResultMessage
from core.slice.apply import take_input
from core.slice.next_step import Step
from core.slice.run import _Slice
from core.thread import ThreadState

from . import Patch, Sabotage


def random_call_ids() -> Sequence[Patch]:
    numbers: Iterator[int] = count(1)
    return [(buffer, "call_id", lambda *cause: f"call_{next(numbers)}")]


def positional_call_ids() -> Sequence[Patch]:
    return [(buffer, "call_id", lambda thread, birth, seq, position, *cause: f"call_{position}")]


def owes_guessed() -> Sequence[Patch]:
    decide = _Slice._next

    def guessed(self: _Slice) -> Step:
        told = [entry for entry in self._manager.history if not isinstance(entry, TurnEnd)]
        if not self._manager.state.closed:
            owes = bool(told) and isinstance(told[-1], User | ToolResult)
            self._manager.draft.set_state(owes=owes, owes_to=self._manager.state.owes_to if owes else None)
        return decide(self)

    return [(_Slice, "_next", guessed)]


def late_result_restarts() -> Sequence[Patch]:
    def taken(on: HistoryManager, what: Any, setting: Any) -> Any:
        result = take_input(on, what, setting)
        if result == "stale" and isinstance(what.message, ToolResultMessage) and on.state.number:
            on.owe(what.message_id)
        return result

    return [(run, "take_input", taken)]


def arrival_order() -> Sequence[Patch]:
    def as_it_came(runs: Any, index: int) -> Any:
        return tuple(runs[index][1])

    return [(render, "_in_order", as_it_came)]


def completion_while_live() -> Sequence[Patch]:
    runnable = property(lambda self: self.owes and not self.closed)
    handle = HistoryManager.handle_completion

    def unchecked(self: HistoryManager, chunk: Any) -> None:
        live, self.draft.state = self.draft.state, self.draft.state.model_copy(update={"live": ()})
        handle(self, chunk)
        self.draft.state = live

    return [(ThreadState, "runnable", runnable), (HistoryManager, "handle_completion", unchecked)]


def metadata_lost() -> Sequence[Patch]:
    return [(manager, "metadata_set", lambda commit: {})]


def joined_backwards() -> Sequence[Patch]:
    join = ThreadDraft.join_deferred

    def newest_first(self: ThreadDraft) -> None:
        self.state = self.state.model_copy(update={"deferred": self.state.deferred[::-1]})
        join(self)

    return [(ThreadDraft, "join_deferred", newest_first)]


SABOTAGES = (
    Sabotage("metadata of an unsettled commit lost", metadata_lost, ["inline_then_worker"]),
    Sabotage("deferred input joined newest first", joined_backwards, ["on_busy_queue"]),
    Sabotage("random call ids", random_call_ids, ["inline_then_worker"]),
    Sabotage("positional call ids only", positional_call_ids, ["inline_then_worker"]),
    Sabotage("owes guessed from the last entry", owes_guessed, ["cancel_with_a_late_result"]),
    Sabotage(
        "late result restarting a cancelled thread", late_result_restarts, ["cancel_with_a_late_result"]
    ),
    Sabotage("results rendered in arrival order", arrival_order, ["three_calls_on_two_workers"], seeds=20),
    Sabotage("completion while a call is live", completion_while_live, ["three_calls_on_two_workers"]),
)
