"""What a thread waits for, read from its state. Pure, so that waiting, trees and the command line say the same."""

from collections.abc import Iterable, Iterator
from typing import Literal

from core.entries import Entry, ToolCall
from core.thread import LiveCall, ThreadState
from infra.client.outcomes import (
    Awaited,
    AwaitedAnswer,
    AwaitedCall,
    AwaitedChild,
    AwaitedEvent,
    AwaitedModel,
    AwaitedTime,
)

Status = Literal["absent", "working", "waiting", "idle", "closed"]
"""`absent`: no commit yet, its spawn is on the way (or there is no such thread). `working`: a completion is due or
under way. `waiting`: for what `awaits` tells. `idle`: for nothing but new input."""


def awaited(state: ThreadState, entries: Iterable[Entry] = ()) -> tuple[Awaited, ...]:
    """Everything that something will come from, questions first. `entries` hold the live calls' arguments."""
    calls = [_call(live, entries) for live in state.live]
    asked = [one for one in calls if isinstance(one, AwaitedAnswer)]
    rest = [one for one in calls if not isinstance(one, AwaitedAnswer)]
    return (*asked, *rest, *_model(state), *_children(state), *_events(state))


def status_of(state: ThreadState) -> Status:
    """The thread in a word."""
    if not state.exists:
        return "absent"
    if state.closed:
        return "closed"
    if state.runnable:
        return "working"
    return "idle" if state.idle else "waiting"


def _call(live: LiveCall, entries: Iterable[Entry]) -> Awaited:
    question = live.question
    if question is not None:
        return AwaitedAnswer(
            call_id=live.call_id,
            name=live.name,
            question=question.kind,
            asked_by=question.asked_by,
            prompt=question.prompt,
            choices=question.choices,
            default=question.default,
            args=_arguments(live, entries) if question.kind == "approval" else None,
            expires_at=question.expires_at,
        )
    if live.passive:
        return AwaitedTime(call_id=live.call_id, name=live.name, until=live.until)
    return AwaitedCall(call_id=live.call_id, name=live.name, worker=live.worker, deadline_at=live.deadline_at)


def _arguments(live: LiveCall, entries: Iterable[Entry]) -> dict[str, object] | None:
    calls = (entry for entry in entries if isinstance(entry, ToolCall) and entry.call_id == live.call_id)
    call = next(calls, None)
    return call.args if call is not None else None


def _model(state: ThreadState) -> Iterator[AwaitedModel]:
    if not state.runnable:
        return
    wake = state.wake
    if wake is not None and wake.reason == "model":
        yield AwaitedModel(due_at=wake.due_at, tries=wake.tries)
    else:
        yield AwaitedModel()


def _children(state: ThreadState) -> Iterator[AwaitedChild]:
    """Nobody waits for a summary, unless a completion does."""
    for child in state.children:
        if child.kind != "compaction" or state.blocked:
            yield AwaitedChild(thread_id=child.thread_id, call_id=child.call_id, child=child.kind)


def _events(state: ThreadState) -> Iterator[AwaitedEvent]:
    for subscription in state.subscriptions:
        yield AwaitedEvent(call_id=subscription.call_id, name=subscription.name)
