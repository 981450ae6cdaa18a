"""The log lines of a slice: from facts to an action, a level and fields. Pure; `handlers/watch.py` writes them.

Alarms count lines by `action` (template.yaml): `refused` and `parked` are a record's, never a fact's.
"""

import logging
import re
from dataclasses import dataclass
from typing import Any, assert_never

from core.clock import iso
from core.facts import (
    CallDispatched,
    CallEnded,
    Committed,
    Entered,
    Fact,
    InputTaken,
    MessageLeft,
    ModelAnswered,
    ModelAsked,
    ModelFailed,
    RaceLost,
    Settled,
    ThreadSeen,
    ThreadSpawned,
    TimerArmed,
    WakeArmed,
)
from handlers.numbers import ModelTry, SliceNumbers

_WORD = re.compile(r"[A-Za-z_]{1,40}")


@dataclass(frozen=True, slots=True)
class Line:
    """One log line, but for what says whose it is."""

    level: int
    action: str
    text: str
    fields: dict[str, Any]


def lines_of(fact: Fact) -> tuple[Line, ...]:
    """What a fact is logged as."""
    match fact:
        case InputTaken(type=kind, message_id=message_id, result=result, code=code, call_id=call_id):
            fields = {
                "type": kind,
                "message_id": message_id,
                "result": result,
                "code": code,
                "call_id": call_id,
            }
            return (_info("input", "input taken", **fields),)
        case CallDispatched(call_id=call_id, worker=worker, deadline_at=deadline_at):
            deadline = iso(deadline_at)
            return (
                _info(
                    "call_dispatched", "call dispatched", call_id=call_id, worker=worker, deadline_at=deadline
                ),
            )
        case CallEnded(call_id=call_id, outcome=outcome):
            return (_info("call_answered", "call answered", call_id=call_id, outcome=outcome),)
        case ThreadSpawned(child_thread_id=child, kind=kind):
            return (_info("spawn", "child spawned", child_thread_id=child, kind=kind),)
        case WakeArmed(reason=reason, due_at=due_at, tries=tries):
            due = iso(due_at) if due_at else None
            return (_info("wake_armed", "wake armed", reason=reason, due_at=due, tries=tries),)
        case TimerArmed(due_at=due_at):
            return (_info("timer_armed", "timer armed", due_at=iso(due_at)),)
        case RaceLost():
            return (Line(logging.WARNING, "race_lost", "another slice committed first", {}),)
        case Committed() | Settled():
            return _of_the_log(fact)
        case Entered() | ThreadSeen() | ModelAsked() | ModelAnswered() | ModelFailed():
            return ()
        case _:
            assert_never(fact)


def _of_the_log(fact: Committed | Settled) -> tuple[Line, ...]:
    match fact:
        case Committed(commit=commit, first_seq=first, entries=entries, consumed=consumed, messages=messages):
            counts = {
                "first_seq": first,
                "entries": entries,
                "consumed": consumed,
                "messages": dict(messages),
            }
            return (Line(logging.DEBUG, "commit", "committed", {"commit": commit, **counts}),)
        case Settled(commit=commit, sent=sent, left=left):
            counts = {"commit": commit, "sent": dict(sent), "left": len(left)}
            return (Line(logging.DEBUG, "settle", "settled", counts), *map(_left, left))


def _left(one: MessageLeft) -> Line:
    """Why a message is carried on, or will never be sent."""
    fields = {"outbox_id": one.outbox_id, "queue": one.queue, "reason": one.reason}
    if one.carried:
        return Line(logging.WARNING, "carried", "message carried on", fields)
    return Line(logging.ERROR, "undeliverable", "message can never be sent", fields)


def line_of_try(one: ModelTry) -> Line:
    """A completion, or a try that failed."""
    fields = {"model": one.model, "attempt": one.attempt, "ms": milliseconds(one.span.seconds)}
    if one.usage is None:
        return Line(logging.WARNING, "model_failed", "no completion", {**fields, "error": one.error})
    stop = one.stop_reason if _WORD.fullmatch(one.stop_reason or "") else "other"
    return _info("model", "completion", **fields, stop_reason=stop, **one.usage.model_dump())


def line_of_slice(numbers: SliceNumbers, outcome: str) -> Line:
    """The whole of it. `outcome`: `done`, or the class of what ended it."""
    ms = {name: milliseconds(seconds) for name, seconds in numbers.seconds_by_phase.items()}
    fields = {"outcome": outcome, "ms": milliseconds(numbers.span.seconds), "ms_by_phase": ms}
    counts = {"commit": numbers.commit, "model_tries": len(numbers.tries), **numbers.counts}
    return _info("slice", "slice ended", **fields, **counts)


def milliseconds(seconds: float) -> float:
    """With a decimal: a memory store answers in less than one."""
    return round(seconds * 1000, 1)


def _info(action: str, text: str, **fields: Any) -> Line:
    return Line(logging.INFO, action, text, fields)
