"""The commit: the one atomic write that makes a round durable (invariant *atomic commit*), and its JSON record.

Large values are the store's matter: the record here is always whole, and so is its digest.
"""

import json
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from core.blocks import Value
from core.clock import iso, parse_iso
from core.entries import ENTRY, Entry
from core.errors import UnreadableRecord
from core.ids import digest, is_child
from core.messages import InputKey
from core.outbox import OutboxMessage, WakeReason
from core.sources import Source
from core.text import canonical_json
from core.thread import Deferred, Hidden, Origin, Subscription, Summary, ThreadState

SCHEMA_VERSION = 1


class Consumed(Value):
    """An input that this commit took in."""

    type: str
    message_id: str
    body_digest: str

    @property
    def key(self) -> InputKey:
        return InputKey(self.type, self.message_id)


class Owes(Value):
    """The thread owes an answer (`to` names the newest input owed), or nothing any more (`to` is None)."""

    op: Literal["owes"] = "owes"
    to: str | None = None


class CallOpened(Value):
    """What the fold cannot see in a call's entry: who works on it and until when."""

    op: Literal["call_opened"] = "call_opened"
    call_id: str
    worker: str | None = None
    deadline_at: datetime | None = None
    passive: bool = False


class TurnsUsed(Value):
    """Model turns since the last user text, this commit's included."""

    op: Literal["turns"] = "turns"
    turns: int


class CreditLeft(Value):
    """Tokens left after this commit."""

    op: Literal["credit"] = "credit"
    tokens: int


class MetadataSet(Value):
    """Metadata keys that an input set. Kept in `META`, not in the fold."""

    op: Literal["metadata"] = "metadata"
    values: dict[str, Any]


class InputDeferred(Value):
    """An input was accepted and waits for the last non-passive live call."""

    op: Literal["deferred"] = "deferred"
    deferred: Deferred


class DeferredJoined(Value):
    """The oldest `count` deferred inputs joined the history in this commit."""

    op: Literal["deferred_joined"] = "deferred_joined"
    count: int


class WakeArmed(Value):
    """The outbox message at `position` is the wake this thread waits for."""

    op: Literal["wake_armed"] = "wake_armed"
    position: int
    reason: WakeReason
    due_at: datetime | None = None
    tries: int = 0


class WakeCleared(Value):
    """No wake is waited for any more."""

    op: Literal["wake_cleared"] = "wake_cleared"


class TimerArmed(Value):
    """The outbox message at `position` is the deadline timer this thread waits for."""

    op: Literal["timer_armed"] = "timer_armed"
    position: int
    due_at: datetime


class TimerCleared(Value):
    """No deadline timer is waited for any more."""

    op: Literal["timer_cleared"] = "timer_cleared"


class SubscriptionOpened(Value):
    op: Literal["subscription_opened"] = "subscription_opened"
    subscription: Subscription


class SubscriptionEnded(Value):
    op: Literal["subscription_ended"] = "subscription_ended"
    call_id: str


class SourcesSet(Value):
    """The sources collected since the last user text, this commit's included."""

    op: Literal["sources"] = "sources"
    sources: tuple[Source, ...]


class EntriesHidden(Value):
    """From here on these entries are shown to a model with a placeholder, so that they fail no further request."""

    op: Literal["hidden"] = "hidden"
    entries: tuple[Hidden, ...]


class Closed(Value):
    """The thread takes nothing any more."""

    op: Literal["closed"] = "closed"


Change = Annotated[
    Owes
    | CallOpened
    | TurnsUsed
    | CreditLeft
    | MetadataSet
    | InputDeferred
    | DeferredJoined
    | WakeArmed
    | WakeCleared
    | TimerArmed
    | TimerCleared
    | SubscriptionOpened
    | SubscriptionEnded
    | SourcesSet
    | EntriesHidden
    | Closed,
    Field(discriminator="op"),
]


class Base(Value):
    """What a compaction adds to its commit: readers start here. `snapshot` is the fold after this commit."""

    summary: Summary
    snapshot: ThreadState


class Commit(Value):
    """One immutable item of a thread's log."""

    thread_id: str
    number: int
    at: datetime
    birth: str
    from_number: int
    """Number of the commit from which a reader must load."""
    first_seq: int
    """The seq of the first entry; of the next one, if there is none."""
    entries: tuple[Entry, ...] = ()
    consumed: tuple[Consumed, ...] = ()
    changes: tuple[Change, ...] = ()
    outbox: tuple[OutboxMessage, ...] = ()
    origin: Origin | None = None
    """The first commit's."""
    base: Base | None = None

    @property
    def last_seq(self) -> int:
        return self.first_seq + len(self.entries) - 1

    @cached_property
    def digest(self) -> str:
        """What this commit is known by: over its whole content, thread and birth included."""
        return digest(commit_record(self))

    def consumes(self, key: InputKey) -> Consumed | None:
        return next((taken for taken in self.consumed if taken.key == key), None)


def metadata_set(commit: Commit) -> dict[str, Any]:
    """The metadata that the commit sets, by key. Only a root's counts: children read their root's."""
    if is_child(commit.thread_id):
        return {}
    changes = [change.values for change in commit.changes if isinstance(change, MetadataSet)]
    return {key: value for values in changes for key, value in values.items()}


def commit_record(commit: Commit) -> dict[str, Any]:
    """The commit as JSON. Entries leave out what the commit says already (`seq`, `at`); empty parts are left out."""
    record: dict[str, Any] = {
        "v": SCHEMA_VERSION,
        "thread_id": commit.thread_id,
        "number": commit.number,
        "at": iso(commit.at),
        "birth": commit.birth,
        "from": commit.from_number,
        "first_seq": commit.first_seq,
        "entries": [
            entry.model_dump(mode="json", exclude={"seq", "at"}, exclude_none=True)
            for entry in commit.entries
        ],
        "consumed": [taken.to_json() for taken in commit.consumed],
        "changes": [change.to_json() for change in commit.changes],
        "outbox": [message.to_json() for message in commit.outbox],
        "origin": commit.origin.to_json() if commit.origin else None,
        "base": commit.base.to_json() if commit.base else None,
    }
    return {key: value for key, value in record.items() if value not in (None, [])}


_COMMIT: TypeAdapter[Commit] = TypeAdapter(Commit)


def read_commit(record: dict[str, Any]) -> Commit:
    """The commit of a record. Raises UnreadableRecord for a newer version or a damaged one; never skips."""
    version = record.get("v")
    if version != SCHEMA_VERSION:
        raise UnreadableRecord(
            f"commit record of schema version {version!r}, this code reads up to {SCHEMA_VERSION}: deploy a newer one"
        )
    try:
        at, first_seq = parse_iso(record["at"]), record["first_seq"]
        entries = [
            ENTRY.validate_python({**entry, "seq": first_seq + index, "at": at})
            for index, entry in enumerate(record.get("entries", ()))
        ]
        fields = {key: value for key, value in record.items() if key not in ("v", "from")}
        return _COMMIT.validate_python(
            {**fields, "at": at, "from_number": record["from"], "entries": entries}
        )
    except (ValidationError, KeyError, TypeError, ValueError) as error:
        where = f"{record.get('thread_id')!r} commit {record.get('number')!r}"
        raise UnreadableRecord(f"the record of {where} is damaged: {type(error).__name__}") from error


def commit_text(commit: Commit) -> str:
    """The record as canonical JSON text, the form every store keeps."""
    return canonical_json(commit_record(commit))


def commit_from_text(text: str) -> Commit:
    """The inverse of `commit_text`. Raises UnreadableRecord."""
    try:
        record = json.loads(text)
    except ValueError as error:
        raise UnreadableRecord("a commit record is not JSON") from error
    if not isinstance(record, dict):
        raise UnreadableRecord("a commit record is not an object")
    return read_commit(record)
