"""Threads as JSON lines: what `torpor export` writes, and how each line is read again. The text is untrusted.

    {"torpor": "export", "v": 1, "thread_id": …}      what was asked for
    {"commit": {record}, "digest": …, "sum": …}       a commit, oldest first, of one thread after the other
    {"commits": n}                                    the end: without it the file was cut off

Logs that others read come before them. Large values stand in full.
"""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from core.commit import Commit, commit_record, read_commit
from core.errors import MisuseError, NoThread, UnreadableRecord
from core.ids import DIGEST, digest, is_thread_id
from core.keeping import KeepingStore, log_of, spawned_by
from core.text import canonical_json

FORMAT = 1
MOST_LINE_CHARACTERS = 64 * 1024 * 1024
"""A commit that was stored takes less."""


@dataclass(frozen=True, slots=True)
class Header:
    thread_id: str


@dataclass(frozen=True, slots=True)
class End:
    commits: int


Line = Header | Commit | End


async def exported(store: KeepingStore, thread_id: str) -> AsyncIterator[str]:
    """The lines of the tree of threads that begins with `thread_id`, and of the logs that it reads.

    Page by page: a tree of any size is never held whole. It may go on meanwhile: children are those of the commits that
    were told, so that all they read is there. Raises MisuseError for an unknown thread.
    """
    newest = await store.newest(thread_id)
    if newest is None or newest.erased is not None:
        raise NoThread(thread_id)
    yield _line({"torpor": "export", "v": FORMAT, "thread_id": thread_id})
    told, due, commits = set[str](), [thread_id], 0
    while due:
        current = due.pop()
        children = list[str]()
        for log in await _with_what_it_reads(store, current):
            if log in told:
                continue
            told.add(log)
            async for commit in log_of(store, log):
                yield _written(commit)
                commits += 1
                children += spawned_by(commit) if log == current else ()
        due += reversed(children)
    yield _line({"commits": commits})


async def _with_what_it_reads(store: KeepingStore, thread_id: str) -> tuple[str, ...]:
    """The logs that a thread reads, and its own last; none if it does not exist."""
    newest = await store.newest(thread_id)
    if newest is None or newest.erased is not None:
        return ()
    lineage = (await store.state_at(thread_id, newest.number)).origin.lineage
    return (*(ancestor.thread_id for ancestor in lineage), thread_id)


def read_line(text: str, number: int) -> Line:
    """One line, the `number`-th of its file. Raises MisuseError for what is no line of an export of this version."""
    where = f"line {number}"
    if len(text) > MOST_LINE_CHARACTERS:
        raise MisuseError(f"{where} is too long")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MisuseError(f"{where} is not JSON") from error
    match value:
        case {"torpor": "export", "v": version, "thread_id": str(thread_id), **rest} if not rest:
            if version != FORMAT:
                raise MisuseError(f"an export of format {version!r}, this code reads {FORMAT}")
            return Header(thread_id)
        case {"commit": dict(record), "digest": str(known_as), "sum": str(total), **rest} if not rest:
            return _commit(record, known_as, total, where)
        case {"commits": int(commits), **rest} if not rest:
            return End(commits)
        case _:
            raise MisuseError(f"{where} is no line of an export")


def _commit(record: dict[str, Any], known_as: str, total: str, where: str) -> Commit:
    try:
        as_written = digest(record, known_as) == total
    except ValueError as error:  # NaN, infinities
        raise MisuseError(f"{where} is not JSON") from error
    if not as_written:
        raise MisuseError(f"{where} is not as it was written")
    if not DIGEST.fullmatch(known_as):
        raise MisuseError(f"{where} has no digest")
    try:
        commit = read_commit(record)
    except UnreadableRecord as error:
        raise MisuseError(f"{where}: {error}") from error
    if not is_thread_id(commit.thread_id):
        raise MisuseError(f"{where} is of no thread that can be")
    commit.__dict__["digest"] = known_as  # seeds the cached property
    return commit


def _written(commit: Commit) -> str:
    record = commit_record(commit)
    return _line({"commit": record, "digest": commit.digest, "sum": digest(record, commit.digest)})


def _line(value: dict[str, Any]) -> str:
    return canonical_json(value)
