"""What counts as the same input: its key, and who remembers it (storage.md, "Duplicates")."""

from collections.abc import Iterable

from core.commit import Commit, Consumed
from core.entries import Entry
from core.ids import digest
from core.messages import MARKED_TYPES, TOLD_BY_THE_FOLD, InputKey
from core.ports import LoadedThread

INPUT_TYPES = {"user": "user_message", "tool_result": "tool_result", "event": "subscription_event"}
"""The wire type that brings an entry of each kind."""


def consumption(entry: Entry, message_id: str, body_digest: str | None, key: InputKey | None) -> Consumed:
    """The record that this entry's input was taken in, under its kind and message id unless `key` says otherwise."""
    key = key or InputKey(INPUT_TYPES.get(entry.kind, entry.kind), message_id)
    return Consumed(
        type=key.type, message_id=key.message_id, body_digest=body_digest or digest(entry.to_json())
    )


def lookup_keys(named: str | InputKey) -> list[InputKey]:
    """What to look up for an input: a bare message id under every type that leaves a marker."""
    if isinstance(named, InputKey):
        return [named]
    return [InputKey(kind, named) for kind in sorted(MARKED_TYPES)]


def seen_digest(
    key: InputKey, pending: Iterable[Consumed], last: Commit | None, loaded: LoadedThread
) -> str | None:
    """The body digest under which this input was taken in already: pending, by the last commit, or by its marker.

    None if it is new, or if the fold tells.
    """
    if key.type in TOLD_BY_THE_FOLD:
        return None
    taken = next((consumed for consumed in pending if consumed.key == key), None)
    taken = taken or (last.consumes(key) if last else None)
    return taken.body_digest if taken else loaded.markers.get(key)
