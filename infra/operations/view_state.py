"""What a thread is and what it waits for, as lines for a terminal: seen at a glance, with how to go on. Pure."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import assert_never

from core.entries import ToolCall
from core.ids import is_child
from core.ports import LoadedThread
from core.text import canonical_json
from core.thread import ThreadState
from infra.client.awaited import Status, awaited, status_of
from infra.client.outcomes import (
    Awaited,
    AwaitedAnswer,
    AwaitedCall,
    AwaitedChild,
    AwaitedEvent,
    AwaitedModel,
    AwaitedTime,
)
from infra.operations.shown import counted, duration, from_now, line

ARGUMENTS = 200
"""Characters of what is to be approved."""
_WORDS: Mapping[Status, str] = {
    "absent": "not there yet",
    "closed": "closed",
    "working": "works",
    "idle": "at rest",
    "waiting": "waits",
}


def head(thread_id: str, loaded: LoadedThread) -> str:
    """One line that says what the thread is."""
    state = loaded.folded.state
    parts = [
        thread_id,
        f"child of {state.origin.parent}" if is_child(thread_id) else "root",
        f"agent {line(state.played_by)}" if state.played_by else "",
        f"forked from {state.origin.forked_from.thread_id}" if state.origin.forked_from else "",
        f"{counted(state.last_seq, 'entry')} in {counted(state.number, 'commit')}",
        f"summed up to entry {state.summary.up_to_seq}" if state.summary else "",
        f"{state.credit} tokens of credit" if state.credit is not None else "",
        word(state),
    ]
    return " · ".join(part for part in parts if part)


def word(state: ThreadState) -> str:
    """The thread in a word."""
    return _WORDS[status_of(state)]


def waits(thread_id: str, loaded: LoadedThread, now: datetime) -> Iterator[str]:
    """A line for each thing that it waits for, then for what is not done."""
    state = loaded.folded.state
    called = {entry.call_id: entry.at for entry in loaded.folded.entries if isinstance(entry, ToolCall)}
    for one in awaited(state, loaded.folded.entries):
        yield f"waits for {_wait(thread_id, one, called, now)}"
    if state.idle and not state.closed:
        yield "waits for nothing but what is said next"
    if state.deferred:
        yield f"deferred: {counted(len(state.deferred), 'input')}, until no call is live"
    if state.wake is not None and state.wake.reason == "resend":
        due = "" if state.wake.due_at is None else f" {from_now(state.wake.due_at, now)}"
        yield f"not sent: what no queue took, tried again{due} (so far {counted(state.wake.tries, 'try')})"
    if state.timer is not None and not state.closed:
        yield f"timer: {from_now(state.timer.due_at, now)}"
    if loaded.last is not None and loaded.last.number > loaded.tip:
        yield f"not settled: commit {loaded.last.number}. A slice is at it, else `torpor settle {thread_id}`"


def _wait(thread_id: str, one: Awaited, called: Mapping[str, datetime | None], now: datetime) -> str:
    match one:
        case AwaitedAnswer(call_id=call_id, name=name, question=kind):
            end = f"expires {from_now(one.expires_at, now)}"
            return (
                f"a person: {kind} of {line(name)}{_asked(one)}, {end}: `torpor answer {thread_id} {call_id}`"
            )
        case AwaitedCall(call_id=call_id, name=name, worker=worker):
            where = f"worker {line(worker)}" if worker else "a slice"
            end = f", deadline {from_now(one.deadline_at, now)}" if one.deadline_at else ""
            return f"{line(name)} at {where}{_since(called.get(call_id), now)}{end} ({call_id})"
        case AwaitedTime(call_id=call_id, name=name, until=until):
            end = f", over {from_now(until, now)}" if until else ", until something comes"
            return f"{line(name)}{_since(called.get(call_id), now)}{end}"
        case AwaitedChild(thread_id=child, child=kind):
            return f"{kind} child {line(child, 130)}"
        case AwaitedEvent(call_id=call_id, name=name):
            return f"events of {line(name)} ({call_id})"
        case AwaitedModel(due_at=datetime() as due_at, tries=tries):
            return (
                f"the model, which has failed: again {from_now(due_at, now)} (so far {counted(tries, 'try')})"
            )
        case AwaitedModel():
            return "the model: a slice is at it, or about to be"
        case _:
            assert_never(one)


def _asked(one: AwaitedAnswer) -> str:
    if one.args is not None:
        return f" with {line(canonical_json(one.args), ARGUMENTS)}"
    choices = f" of {line(', '.join(one.choices), ARGUMENTS)}" if one.choices else ""
    return f", {line(one.prompt, ARGUMENTS)}{choices}"


def _since(at: datetime | None, now: datetime) -> str:
    return f", for {duration(now - at)}" if at is not None else ""
