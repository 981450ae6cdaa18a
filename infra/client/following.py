"""Following a thread: its entries from any seq on, each once and in order, and those still to come."""

from collections.abc import AsyncGenerator
from typing import Final

from core.changes import Closed
from core.clock import Clock
from core.commit import Commit
from core.entries import Entry
from infra.log_reader import LogReader

FIRST_PAUSE_SECONDS: Final = 0.2
LONGEST_PAUSE_SECONDS: Final = 5.0
PAGE_COMMITS: Final = 32


async def commits_from(reader: LogReader, thread_id: str, number: int) -> AsyncGenerator[Commit, None]:
    """The commits that there are, from `number` on: no more than a page of them at a time is held."""
    more = True
    while more:
        page = await reader.page(thread_id, number, PAGE_COMMITS)
        for commit in page.commits:
            yield commit
            number = commit.number + 1
        more = page.more


async def beginning(reader: LogReader, thread_id: str, after_seq: int) -> tuple[int, int]:
    """Where to begin reading for the entries behind `after_seq`, and behind which they are: none that was erased."""
    newest = await reader.newest(thread_id)
    after_seq = max(after_seq, newest.erased_seq or 0 if newest is not None else 0)
    return (await reader.commit_holding(thread_id, after_seq + 1) if after_seq > 0 else 1), after_seq


async def follow(
    reader: LogReader, clock: Clock, thread_id: str, after_seq: int
) -> AsyncGenerator[Entry, None]:
    """Entries behind `after_seq`, waiting for those to come; ends with the thread, once it is closed or erased.

    Whoever begins anew after the last `seq` seen misses none and sees none twice: seqs have no gaps (*append-only*).
    A look at a thread with nothing new is one request.
    """
    number, after_seq = await beginning(reader, thread_id, after_seq)
    over = (await reader.load(thread_id)).folded.state.closed
    pause_seconds = FIRST_PAUSE_SECONDS
    while True:
        fresh = False
        async for commit in commits_from(reader, thread_id, number):
            number, fresh = commit.number + 1, True
            over = is_over(commit, before=over)
            for entry in commit.entries:
                if entry.seq > after_seq:
                    yield entry
        if over:
            return
        pause_seconds = FIRST_PAUSE_SECONDS if fresh else min(pause_seconds * 1.5, LONGEST_PAUSE_SECONDS)
        await clock.sleep(pause_seconds)


def is_over(commit: Commit, *, before: bool) -> bool:
    """Whether nothing comes behind this commit. A log may begin anew behind an erased one."""
    if commit.erased is not None or any(isinstance(change, Closed) for change in commit.changes):
        return True
    return before and commit.origin is None
