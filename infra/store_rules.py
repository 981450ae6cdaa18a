"""What settling a commit writes, whatever the store: which markers and readers, and how long things are kept."""

from datetime import datetime, timedelta
from typing import Final

from core.commit import Commit, Consumed
from core.erasing import ERASED_LIFETIME
from core.messages import MARKED_TYPES
from core.outbox import SendSpawn

MARKER_LIFETIME: Final = timedelta(days=60)
"""Longer than an input can wait: 14 days in a queue, 14 in its dead-letter queue, and both again after a redrive."""
STUB_LIFETIME: Final = timedelta(days=1)
"""Of what stands for a commit that was erased: longer than an invocation that has read the log before can live."""
RETENTION_DAYS: Final = 90
"""After the last commit, for a thread that waits for nothing."""


def marked_inputs(commit: Commit) -> tuple[Consumed, ...]:
    """The inputs of the commit that leave a marker, each once."""
    by_key = {taken.key: taken for taken in commit.consumed if taken.type in MARKED_TYPES}
    return tuple(by_key.values())


def readers_made(commit: Commit) -> tuple[tuple[str, str], ...]:
    """(a log, who reads it) of each ancestor that a child or fork made by this commit inherits from, each once."""
    pairs = [
        (ancestor.thread_id, spawn.thread_id)
        for spawn in commit.outbox
        if isinstance(spawn, SendSpawn)
        for ancestor in spawn.lineage
    ]
    if commit.origin is not None and commit.origin.forked_from is not None:
        pairs += [(ancestor.thread_id, commit.thread_id) for ancestor in commit.origin.lineage]
    return tuple(dict.fromkeys(pairs))


def summary_made(commit: Commit) -> int | None:
    """Up to which entry the commit is a base for others: one that covers nothing of a log after an erased one is none,
    so that it cannot be taken for the erased one's.
    """
    if commit.base is None:
        return None
    up_to_seq, erased_seq = commit.base.summary.up_to_seq, commit.erased_seq
    return up_to_seq if erased_seq is None or up_to_seq > erased_seq else None


def begins_anew(commit: Commit) -> bool:
    """Whether the commit is the first one after an erased log: what erased it has to stay then."""
    return commit.origin is not None and commit.number > 1


def marker_expires_at(commit: Commit) -> datetime:
    """The same whoever settles the commit, and however late."""
    return commit.at + MARKER_LIFETIME


def thread_expires_at(commit: Commit, retention_days: int, *, waiting: bool) -> datetime | None:
    """When a thread with this last commit expires; None while it waits for something. Of an erased one: when nothing
    old can arrive any more.
    """
    if commit.erased is not None:
        return commit.at + ERASED_LIFETIME
    return None if waiting else commit.at + timedelta(days=retention_days)
