"""A thread's log as lines for a terminal: a turn, its commits, and what each waited for. Pure; draws in one pass.

A commit is what one round of a slice left. One that took something in began a slice, and what it took in says how long
was waited; one that took nothing went on in the same slice: the time before it is the model's and its inline tools'.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import assert_never

from core.changes import RouteChosen, SubscriptionOpened, UsageSeen, WakeArmed
from core.chunks import Usage
from core.commit import Commit
from core.entries import AppEntry, Assistant, Entry, Event, Reasoning, ToolCall, ToolResult, TurnEnd, User
from core.outbox import (
    SendAnswer,
    SendCall,
    SendError,
    SendQuestion,
    SendQuestionClosed,
    SendSpawn,
    SendThreadClosed,
)
from core.render import plain_text
from core.text import canonical_json
from infra.operations.shown import duration, instant, line

SAID = 100
"""Characters of a text on its line."""


class TurnView:
    """Draws the commits of one thread, in order, from any of them on."""

    def __init__(self) -> None:
        self._called: dict[str, tuple[str, datetime]] = {}
        """Name and time of calls, by id."""
        self._last_at: datetime | None = None
        self._asked_at: datetime | None = None
        """When the turn began."""

    def draw(self, commit: Commit) -> Iterator[str]:
        """The lines of the next commit."""
        begins = any(isinstance(entry, User | Event) for entry in commit.entries)
        if begins:
            self._asked_at = commit.at
            yield f"── {instant(commit.at)} " + "─" * 40
        yield f"{commit.number:>6}  {commit.at:%H:%M:%S}  {self._how(commit)}"
        for entry in commit.entries:
            yield f"          {entry.seq:>5} {self._entry(entry, commit)}"
        yield from (f"                {told}" for told in self._told(commit))
        self._last_at = commit.at

    def _how(self, commit: Commit) -> str:
        """What made this commit."""
        if commit.erased is not None:
            return "erased"
        gap = "" if self._last_at is None else f"{duration(commit.at - self._last_at)} later"
        if not commit.consumed:
            return f"{gap}, in the same slice" if gap else "in the same slice"
        taken = ", ".join(f"{taken.type} {line(taken.message_id, 30)}" for taken in commit.consumed)
        return f"{gap}: {taken}" if gap else taken

    def _entry(self, entry: Entry, commit: Commit) -> str:
        match entry:
            case User(content=content):
                return f"user       {line(plain_text(content), SAID)}"
            case Assistant(text=text):
                return f"assistant  {line(text, SAID)}"
            case Reasoning(text=text):
                return f"reasoning  {line(text, SAID)}"
            case ToolCall(call_id=call_id, name=name, args=args):
                self._called[call_id] = (name, commit.at)
                where = next((f" → worker {m.worker}" for m in _dispatched(commit, call_id)), "")
                return f"call       {line(f'{name}({_shortly(args)}){where}', SAID)}"
            case ToolResult(call_id=call_id, outcome=outcome, content=content):
                return f"result     {self._result(call_id, commit.at, outcome)}: {line(plain_text(content), SAID)}"
            case Event(name=name, content=content, child_thread_id=child):
                source = f"child {line(child, 130)}" if child else line(name)
                return f"event      of {source}: {line(plain_text(content), SAID)}"
            case TurnEnd(reason=reason):
                return f"end        {reason}"
            case AppEntry(role=role):
                return f"app        {line(role)}"
            case _:
                assert_never(entry)

    def _result(self, call_id: str, at: datetime, outcome: str) -> str:
        name, called_at = self._called.get(call_id, (call_id, None))
        waited = "" if called_at is None else f" after {duration(at - called_at)}"
        return f"{line(name, 64)} {outcome}{waited}"

    def _told(self, commit: Commit) -> Iterator[str]:
        for change in commit.changes:
            match change:
                case UsageSeen(usage=usage):
                    yield f"(model: {_tokens(usage)})"
                case RouteChosen(route=route):
                    yield f"(route: {line(route.name, 130)})"
                case WakeArmed(reason="model", tries=tries, due_at=datetime() as due_at):
                    yield f"(the model failed, try {tries}; again at {due_at:%H:%M:%S})"
                case SubscriptionOpened(subscription=subscription):
                    yield f"(subscribed: {line(subscription.name)})"
                case _:
                    pass
        for message in commit.outbox:
            match message:
                case SendAnswer(usage=usage, final=final, stop_reason=stop_reason):
                    took = self._took(commit.at) if final else ""
                    yield f"({'answered' if final else 'said'}: {_tokens(usage)}, {line(stop_reason, 40)}{took})"
                case SendSpawn(thread_id=child, child_kind=kind):
                    yield f"({kind} child {line(child, 130)})"
                case SendThreadClosed(child_thread_id=child):
                    yield f"(closed: child {line(child, 130)})"
                case SendQuestion(name=name, question=question):
                    yield f"(asked a person: {question.kind} of {line(name)})"
                case SendQuestionClosed(question_kind=kind, outcome=outcome):
                    yield f"(the {kind} is {outcome})"
                case SendError(code=code, message=why):
                    yield f"(error {code}: {line(why)})"
                case _:
                    pass
        if commit.base is not None:
            yield f"(summed up to entry {commit.base.summary.up_to_seq})"

    def _took(self, at: datetime) -> str:
        return f"; {duration(at - self._asked_at)} after it was taken in" if self._asked_at else ""


def _dispatched(commit: Commit, call_id: str) -> Iterator[SendCall]:
    return (m for m in commit.outbox if isinstance(m, SendCall) and m.call_id == call_id)


def _shortly(args: dict[str, object]) -> str:
    return ", ".join(f"{name}={canonical_json(value)}" for name, value in args.items())


def _tokens(usage: Usage) -> str:
    return f"{usage.input_tokens} tokens in, {usage.output_tokens} out"
