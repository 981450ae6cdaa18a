"""The commit: the one atomic write that makes a round durable (invariant *atomic commit*), and its JSON record.

Large values are the store's matter: the record here is always whole, and so is its digest.
"""

import json
from datetime import datetime
from functools import cached_property
from typing import Any

from pydantic import TypeAdapter, ValidationError

from core.blocks import Value
from core.changes import Change, MetadataSet
from core.clock import iso, parse_iso
from core.entries import ENTRY, Entry
from core.errors import UnreadableRecord
from core.ids import digest, is_child
from core.messages import InputKey
from core.outbox import OutboxMessage
from core.text import canonical_json
from core.thread import Origin, Summary, ThreadState
from core.upcasting import SCHEMA_VERSION, upcast


class Consumed(Value):
    """An input that this commit took in."""

    type: str
    message_id: str
    body_digest: str

    @property
    def key(self) -> InputKey:
        return InputKey(self.type, self.message_id)


class Base(Value):
    """What a compaction adds to its commit: readers start here. `snapshot` is the fold after this commit."""

    summary: Summary
    snapshot: ThreadState


class Checkpoint(Value):
    """What lets readers start at a commit though nothing is summed up: the fold after it, and what came before it."""

    snapshot: ThreadState
    carried: tuple[Entry, ...] = ()
    """The entries before this commit that no summary covers, each with its own `seq` and `at`."""


class Erased(Value):
    """What ends a log: readers start here, with nothing (storage.md, "The end of a log")."""

    reads: tuple[str, ...] = ()
    """The logs that the erased one read: its `READER#` there is to go."""


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
    """The first commit's: of a log that begins after an erased one, too."""
    erased_seq: int | None = None
    """The last entry of an earlier log under this id that was erased, as `ThreadState.erased_seq`."""
    base: Base | None = None
    checkpoint: Checkpoint | None = None
    erased: Erased | None = None

    @property
    def last_seq(self) -> int:
        return self.first_seq + len(self.entries) - 1

    @property
    def snapshot(self) -> ThreadState | None:
        """The fold after this commit, where it says it whole."""
        if self.erased is not None:
            return ThreadState(erased_seq=self.erased_seq)
        whole = self.base or self.checkpoint
        return whole.snapshot if whole else None

    @property
    def held(self) -> tuple[Entry, ...]:
        """What a reader who starts here finds: what the commit carries, then its own entries."""
        return (*self.checkpoint.carried, *self.entries) if self.checkpoint else self.entries

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
        "checkpoint": commit.checkpoint.to_json() if commit.checkpoint else None,
        "erased_seq": commit.erased_seq,
        "erased": commit.erased.to_json() if commit.erased else None,
    }
    return {key: value for key, value in record.items() if value not in (None, [])}


_COMMIT: TypeAdapter[Commit] = TypeAdapter(Commit)


def read_commit(record: dict[str, Any]) -> Commit:
    """The commit of a record. Raises UnreadableRecord for a newer version or a damaged one; never skips."""
    record = upcast(record)
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
