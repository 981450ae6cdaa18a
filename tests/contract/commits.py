"""Commits for store tests, valid as the slice makes them but with no slice around."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from core.blocks import Block, TextBlock
from core.changes import Change, MetadataSet
from core.commit import Base, Commit, Consumed
from core.entries import Assistant, Entry, User
from core.fold import fold_commits
from core.messages import InputKey
from core.outbox import OutboxMessage
from core.ports import ThreadStore
from core.thread import FoldedThread, Origin, Summary
from tests.contract.stores import START

THREAD = "thread-1"


def key(number: int, input_type: str = "user_message") -> InputKey:
    """The key of the input that `turn(number)` consumes."""
    return InputKey(input_type, f"m{number}")


def made(
    number: int,
    entries: Sequence[Entry] = (),
    *,
    first_seq: int = 1,
    thread_id: str = THREAD,
    from_number: int = 1,
    consumed: Sequence[InputKey] = (),
    changes: Sequence[Change] = (),
    outbox: Sequence[OutboxMessage] = (),
    origin: Origin | None = None,
    base: Base | None = None,
    at: datetime = START,
) -> Commit:
    """A commit whose entries are numbered from `first_seq` on."""
    numbered = [
        entry.model_copy(update={"seq": first_seq + index, "at": at}) for index, entry in enumerate(entries)
    ]
    return Commit(
        thread_id=thread_id,
        number=number,
        at=at,
        birth="birth",
        from_number=from_number,
        first_seq=first_seq,
        entries=tuple(numbered),
        consumed=tuple(
            Consumed(type=taken.type, message_id=taken.message_id, body_digest=f"body of {taken.message_id}")
            for taken in consumed
        ),
        changes=tuple(changes),
        outbox=tuple(outbox),
        origin=origin,
        base=base,
    )


def user(*blocks: Block | str) -> User:
    return User(content=tuple(TextBlock(text=block) if isinstance(block, str) else block for block in blocks))


def turn(number: int, text: str = "", **more: Any) -> Commit:
    """Commit `number` of a thread of plain turns: a user's text and an answer, so entries 2n-1 and 2n."""
    entries: list[Entry] = [user(text or f"question {number}"), Assistant(text=f"answer {number}")]
    fields: dict[str, Any] = {
        "first_seq": 2 * number - 1,
        "consumed": [key(number)],
        "at": START + timedelta(seconds=number),
    }
    return made(number, entries, **(fields | more))


def with_metadata(number: int, **values: Any) -> Commit:
    return turn(number, changes=[MetadataSet(values=values)])


def with_base(number: int, before: Sequence[Commit], *, up_to_seq: int, from_number: int) -> Commit:
    """A base as commit `number`: sums up `before` to `up_to_seq`, and adds no entry."""
    state = fold_commits(FoldedThread(), before).state
    summary = Summary(text="so far", up_to_seq=up_to_seq)
    known = {"number": number, "base_number": number, "from_number": from_number}
    base = Base(summary=summary, snapshot=state.model_copy(update={"summary": summary, **known}))
    first_seq, thread_id = state.last_seq + 1, before[0].thread_id
    return made(number, first_seq=first_seq, thread_id=thread_id, from_number=from_number, base=base)


async def settle(store: ThreadStore, commit: Commit, *, waiting: bool = False) -> None:
    """Write a commit and all that settles it; there is no outbox here."""
    await store.commit(commit)
    await store.mark(commit)
    await store.settled(commit, waiting=waiting)


def texts(entries: Sequence[Entry]) -> list[str]:
    """The texts of users and assistants."""
    shown: list[str] = []
    for entry in entries:
        match entry:
            case User(content=content):
                shown += [block.text for block in content if isinstance(block, TextBlock)]
            case Assistant(text=text):
                shown.append(text)
            case _:
                pass
    return shown
