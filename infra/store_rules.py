"""What settling a commit writes, whatever the store: which markers and readers, and how long things are kept."""

from datetime import datetime, timedelta
from typing import Final

from core.commit import Commit, Consumed
from core.messages import MARKED_TYPES
from core.outbox import SendSpawn

MARKER_LIFETIME: Final = timedelta(days=60)
"""Longer than an input can wait: 14 days in a queue, 14 in its dead-letter queue, and both again after a redrive."""
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


def marker_expires_at(commit: Commit) -> datetime:
    """The same whoever settles the commit, and however late."""
    return commit.at + MARKER_LIFETIME


def thread_expires_at(commit: Commit, retention_days: int, *, waiting: bool) -> datetime | None:
    """When a thread with this last commit expires; None while it waits for something."""
    return None if waiting else commit.at + timedelta(days=retention_days)
