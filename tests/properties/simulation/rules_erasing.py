"""Rules of the end of a log: when it may be written, and what is left once it stands (storage.md)."""

from collections.abc import Iterator
from datetime import timedelta

from infra.memory import MemoryStore
from infra.store_rules import RETENTION_DAYS

from .commits_seen import CommitSeen
from .thread_facts import ThreadFacts

Broken = Iterator[str]
EXPIRED = "sweep"


def broken_by_erasing(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """An end holds nothing, and what only expires ends when nobody has come for as long as it is kept."""
    if not commit.erases:
        return
    if commit.entries or commit.taken or commit.changes or commit.promises or commit.origin:
        yield f"erasing: commit {commit.number} of {thread.thread_id} ends a log, and holds something"
    if thread.children:
        yield f"never stuck: {thread.thread_id} ends while {sorted(thread.children)} are open"
    waits = thread.live or thread.owes or thread.wake or thread.timer or thread.subscriptions
    quiet_for = commit.at - thread.commits[-1].at if thread.commits else timedelta()
    lives = waits or quiet_for < timedelta(days=RETENTION_DAYS)
    if lives and any(EXPIRED in body for body in commit.made.given):
        yield f"erasing: {thread.thread_id} has not expired: it was quiet for {quiet_for}"


def broken_by_leaving(thread: ThreadFacts, store: MemoryStore) -> Broken:
    """Of what was ended nothing is left but markers."""
    log = thread.log()
    if not log or not log[0].erases:
        return
    number, kept = log[0].number, store._thread(thread.thread_id)
    left = [below for below in kept.log if below < number]
    left += [seq for seq in kept.summaries if seq < log[0].first_seq]
    if left or kept.metadata_number < number or kept.readers:
        yield f"erasing: of {thread.thread_id}, ended by commit {number}, something is left: {left}"
