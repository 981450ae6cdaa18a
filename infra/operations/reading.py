"""Parts of a log for people: its last turns, a page of turns, what comes from now on. Never the whole of a long one."""

from collections.abc import AsyncIterator

from core.clock import Clock
from core.commit import Commit
from core.entries import Event, User
from infra.client.following import is_over
from infra.log_reader import LogPage, LogReader

PAGE = 32
MOST = 512
"""Commits of one page of turns: a turn may have as many as it likes."""
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 5.0


async def last_turns(reader: LogReader, thread_id: str, turns: int) -> LogPage:
    """The commits of the last turns, read backwards a page at a time."""
    newest = await reader.newest(thread_id)
    if newest is None:
        return LogPage()
    found: list[Commit] = []
    first = newest.number + 1
    while first > 1 and _turns_in(found) < turns and len(found) < MOST:
        begin = max(1, first - PAGE)
        page = await _between(reader, thread_id, begin, first)
        if not page:  # what stood here was erased
            break
        found = _after_erasing([*page, *found])
        first = page[0].number
    begins = [index for index, commit in enumerate(found) if _begins_turn(commit)]
    start = begins[-turns] if len(begins) >= turns else 0
    return LogPage(tuple(found[start:]))


async def turns_after(reader: LogReader, thread_id: str, after_seq: int, turns: int) -> LogPage:
    """The commits of the next turns with entries behind `after_seq`."""
    number = await reader.commit_holding(thread_id, after_seq + 1) if after_seq > 0 else 1
    found: list[Commit] = []
    more = True
    while more and len(found) < MOST:
        page = await reader.page(thread_id, number, PAGE)
        for commit in page.commits:
            if _begins_turn(commit) and _turns_in(found) >= turns:
                return LogPage(tuple(found), more=True)
            if commit.last_seq > after_seq or found:
                found.append(commit)
            number = commit.number + 1
        more = page.more
    return LogPage(tuple(_after_erasing(found)), more=more)


async def coming(
    reader: LogReader, clock: Clock, thread_id: str, number: int, *, closed: bool
) -> AsyncIterator[tuple[Commit, ...]]:
    """What is committed from commit `number` on, as it comes; ends with the thread, closed or erased. One request a
    look.
    """
    pause_seconds = FIRST_PAUSE_SECONDS
    while not closed:
        page = await reader.page(thread_id, number, PAGE)
        if page.commits:
            number = page.commits[-1].number + 1
            for commit in page.commits:
                closed = is_over(commit, before=closed)
            yield page.commits
        pause_seconds = (
            FIRST_PAUSE_SECONDS if page.commits else min(pause_seconds * 1.5, LONGEST_PAUSE_SECONDS)
        )
        if not page.more and not closed:
            await clock.sleep(pause_seconds)


async def _between(reader: LogReader, thread_id: str, begin: int, end: int) -> list[Commit]:
    """Commits `begin` to `end` - 1; a page may hold fewer than are asked for."""
    found: list[Commit] = []
    number = begin
    while number < end:
        page = await reader.page(thread_id, number, end - number)
        found += [commit for commit in page.commits if commit.number < end]
        if not page.commits or not page.more:
            break
        number = page.commits[-1].number + 1
    return found


def _after_erasing(commits: list[Commit]) -> list[Commit]:
    """Those of the log that there is: not the one that ended a log before it under the same id."""
    ends = [index for index, commit in enumerate(commits) if commit.erased is not None]
    return commits[ends[-1] + 1 :] if ends else commits


def _begins_turn(commit: Commit) -> bool:
    return any(isinstance(entry, User | Event) for entry in commit.entries)


def _turns_in(commits: list[Commit]) -> int:
    return sum(map(_begins_turn, commits))
