"""A thread as turns: who said what, what was called, who answered. Read page by page; one turn is held at a time."""

from collections.abc import AsyncGenerator
from typing import Any, Literal, assert_never

from core.blocks import Content, Value
from core.commit import Commit
from core.entries import (
    AppEntry,
    Assistant,
    EndReason,
    Entry,
    Event,
    Outcome,
    Reasoning,
    ToolCall,
    ToolResult,
    TurnEnd,
    User,
)
from core.outbox import SendAnswer
from core.render import plain_text
from core.sources import Source
from infra.client.endings import text_and_usage
from infra.client.following import beginning, commits_from
from infra.log_reader import LogReader


class Said(Value):
    """What a turn answers: a user's text, or an event."""

    kind: Literal["user", "event"]
    message_id: str | None = None
    content: Content
    metadata: dict[str, Any] | None = None
    name: str | None = None
    """Of an event: the call that it is for."""

    @property
    def text(self) -> str:
        return plain_text(self.content)


class Called(Value):
    """A call of a turn. `outcome` None: it is live, or was when this was read."""

    call_id: str
    name: str
    args: dict[str, Any]
    outcome: Outcome | None = None


class Turn(Value):
    """From what was said to the answer. Several texts, where they came together or one interrupted another."""

    first_seq: int
    last_seq: int
    said: tuple[Said, ...] = ()
    route: str | None = None
    calls: tuple[Called, ...] = ()
    remarks: tuple[str, ...] = ()
    """Texts that came with calls, before the answer."""
    answer: str | None = None
    citations: tuple[Source, ...] = ()
    ended: EndReason | None = None
    """How it ended, if not by an answer alone."""

    @property
    def open(self) -> bool:
        """Whether its end had not come when this was read."""
        return self.answer is None and self.ended is None

    @property
    def user_text(self) -> str:
        """What users said, one text a line."""
        return "\n".join(said.text for said in self.said if said.kind == "user")


async def turns(reader: LogReader, thread_id: str, after_seq: int) -> AsyncGenerator[Turn, None]:
    """The turns behind `after_seq` so far, oldest first; the last one may be open. An answered turn's `last_seq` is
    where the next reading begins.
    """
    turn: Turn | None = None
    number, after_seq = await beginning(reader, thread_id, after_seq)
    async for commit in commits_from(reader, thread_id, number):
        answers = {m.last_seq: m for m in commit.outbox if isinstance(m, SendAnswer)}
        for entry in commit.entries:
            if entry.seq <= after_seq:
                continue
            if turn is not None and not turn.open and isinstance(entry, User | Event):
                yield turn
                turn = None
            turn = _with_entry(turn or Turn(first_seq=entry.seq, last_seq=entry.seq), entry)
            if (answer := answers.get(entry.seq)) is not None:
                turn = _with_answer(turn, answer, commit)
    if turn is not None:
        yield turn


def _with_entry(turn: Turn, entry: Entry) -> Turn:
    update: dict[str, Any] = {"last_seq": entry.seq}
    match entry:
        case User(message_id=message_id, content=content, metadata=metadata):
            said = Said(kind="user", message_id=message_id, content=content, metadata=metadata)
            update["said"] = (*turn.said, said)
        case Event(message_id=message_id, content=content, name=name):
            said = Said(kind="event", message_id=message_id, content=content, name=name)
            update["said"] = (*turn.said, said)
        case ToolCall(call_id=call_id, name=name, args=args):
            update["calls"] = (*turn.calls, Called(call_id=call_id, name=name, args=args))
        case ToolResult(call_id=call_id, outcome=outcome):
            update["calls"] = tuple(
                call.model_copy(update={"outcome": outcome}) if call.call_id == call_id else call
                for call in turn.calls
            )
        case TurnEnd(reason=reason):
            update["ended"] = reason
        case Assistant() | Reasoning() | AppEntry():
            pass
        case _:
            assert_never(entry)
    return turn.model_copy(update=update)


def _with_answer(turn: Turn, answer: SendAnswer, commit: Commit) -> Turn:
    text, _ = text_and_usage(answer, commit)
    if not answer.final:
        return turn.model_copy(update={"route": answer.route, "remarks": (*turn.remarks, text)})
    told = {"route": answer.route, "answer": text, "citations": answer.citations}
    return turn.model_copy(update=told)
