"""Sabotages of wakes, timers, workers and dead letters: of everything that sees to it that nothing is stuck."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import core.accept.wake as wake
import core.fold as fold
import core.slice.settle as settle
import handlers.dead_letters as dead_letters
from core.accept.effects import RearmWake
from core.answers import answer
from core.changes import Change, TimerArmed
from core.commit import Commit
from core.delivery import outgoing
from core.errors import ModelUnavailable
from core.history.draft import ThreadDraft
from core.ids import digest
from core.ports import Outgoing
from core.slice.completion import Unavailable
from core.slice.round import Round
from core.slice.run import _Slice
from core.thread import PendingTimer, ThreadState
from core.work import Cancelled, Finished
from core.worker import Answering
from infra.work.memory import MemoryWorkRecords

from . import Patch, Sabotage


def record_after_the_answer() -> Sequence[Patch]:
    async def answered(
        self: Answering,
        call: Any,
        attempt: str,
        lease_seconds: float,
        run: Callable[[Any], Awaitable[Any]],
    ) -> str:
        now = self.clock.now()
        until = now + timedelta(seconds=lease_seconds)
        begun = self.records.begin(call.call_id, attempt=attempt, lease_until=until, now=now)
        if isinstance(begun, Cancelled):
            return "dropped"
        result = begun.result if isinstance(begun, Finished) else await run(())
        self.sender.send(answer(call, result))
        self.records.finish(call.call_id, result, now=self.clock.now())
        return "answered"

    return [(Answering, "answer", answered)]


def tombstone_ignored() -> Sequence[Patch]:
    return [(MemoryWorkRecords, "cancel", lambda self, call_id, *, now: None)]


def deadline_forgotten() -> Sequence[Patch]:
    return [(ThreadDraft, "with_timer", lambda self: self.state)]


def only_logs() -> Sequence[Patch]:
    async def logged(record: Any, container: Any) -> str:
        return "logged"

    by_kind = {**dead_letters._BY_KIND, "input": logged}
    return [(dead_letters, "_BY_KIND", by_kind)]


def group_stays_blocked() -> Sequence[Patch]:
    end = Round._end

    async def failing(self: Round, ending: Any, *rest: Any) -> Any:
        if isinstance(ending, Unavailable):
            raise ModelUnavailable(ending.reason)
        return await end(self, ending, *rest)

    return [(Round, "_end", failing)]


def wake_not_sent() -> Sequence[Patch]:
    return [
        (_Slice, "_leave_wake", lambda self: None),
        (Round, "_retry_later", lambda self, *why: None),
    ]


def wake_for_ever() -> Sequence[Patch]:
    accept = wake.accept

    def again(taken: Any, state: ThreadState, setting: Any) -> Any:
        due_at = setting.now + timedelta(seconds=60)
        woken = accept(taken, state, setting)
        return (
            [RearmWake(state.wake.model_copy(update={"due_at": due_at}))] if woken and state.wake else woken
        )

    return [(wake, "accept", again)]


def timer_under_its_old_id() -> Sequence[Patch]:
    apply_change = fold.apply_change

    def old_id(commit: Commit) -> str:
        return digest("timer", commit.thread_id)

    def sent(commit: Commit, *surroundings: Any) -> tuple[Outgoing, ...]:
        return tuple(_renamed(message, old_id(commit)) for message in outgoing(commit, *surroundings))

    def applied(state: ThreadState, change: Change, commit: Commit | None = None) -> ThreadState:
        after = apply_change(state, change, commit)
        if isinstance(change, TimerArmed) and commit is not None:
            return after.model_copy(update={"timer": PendingTimer(id=old_id(commit), due_at=change.due_at)})
        return after

    return [(settle, "outgoing", sent), (fold, "apply_change", applied)]


def _renamed(message: Outgoing, to: str) -> Outgoing:
    body = json.loads(message.body)
    if body["type"] != "timer":
        return message
    return replace(message, id=to, body=json.dumps({**body, "message_id": to}))


SABOTAGES = (
    Sabotage("worker record written after the answer", record_after_the_answer, ["inline_then_worker"]),
    Sabotage(
        "tombstone ignored", tombstone_ignored, ["cancel_with_a_late_result"], ["crash", "stall"], seeds=100
    ),
    Sabotage("deadline timer forgotten", deadline_forgotten, ["nobody_answers"]),
    Sabotage("dead-letter handler that only logs", only_logs, ["dead_letter_with_a_follower"]),
    Sabotage("retryable model error that keeps the group blocked", group_stays_blocked, ["throttled_model"]),
    Sabotage("a wake that is not sent", wake_not_sent, ["throttled_model"]),
    Sabotage("a wake that is sent for ever", wake_for_ever, ["throttled_model"]),
    Sabotage("a re-armed timer under its old id", timer_under_its_old_id, ["nobody_answers"], seeds=60),
)
