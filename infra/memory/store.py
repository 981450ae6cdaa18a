"""`MemoryStore`: the thread store in this process, with the outcomes of the DynamoDB one (held by the contract tests).

Everything is kept as JSON text, so what is read is always a copy, and what a store cannot keep is not kept here either.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.clock import SYSTEM_CLOCK, Clock, iso, parse_iso
from core.commit import Commit, commit_from_text, commit_text, metadata_set
from core.entries import Entry
from core.errors import LostRace, UnreadableRecord
from core.fold import fold_commits
from core.ids import digest, root_of
from core.lineage import RangeRead, joined, newest_base, ranges_to_read
from core.messages import InputKey
from core.ports import LoadedThread, ParkedBody
from core.text import canonical_json
from core.thread import Ancestor, FoldedThread, Inherited, ThreadState
from infra.log_reader import LogPage
from infra.store_rules import (
    RETENTION_DAYS,
    marked_inputs,
    marker_expires_at,
    readers_made,
    thread_expires_at,
)


@dataclass(frozen=True, slots=True)
class _Written:
    text: str
    digest: str
    from_number: int


@dataclass(frozen=True, slots=True)
class _Marker:
    number: int
    digest: str
    expires_at: datetime


@dataclass(slots=True)
class _Thread:
    log: dict[int, _Written] = field(default_factory=dict)
    tip: int = 0
    expires_at: datetime | None = None
    markers: dict[InputKey, _Marker] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    """JSON text by key."""
    metadata_number: int = 0
    summaries: dict[int, int] = field(default_factory=dict)
    """Number of the base by the seq up to which it covers."""
    readers: set[str] = field(default_factory=set)


class MemoryStore:
    """Implements `core.ports.ThreadStore` and `infra.log_reader.LogReader`. One event loop at a time; no method waits, so
    each is atomic.
    """

    def __init__(self, clock: Clock = SYSTEM_CLOCK, *, retention_days: int = RETENTION_DAYS) -> None:
        self._clock = clock
        self._retention_days = retention_days
        self._threads: dict[str, _Thread] = {}
        self._parked: dict[str, str] = {}

    async def load(self, thread_id: str, keys: Sequence[InputKey] = ()) -> LoadedThread:
        thread, root = self._thread(thread_id), self._thread(root_of(thread_id))
        last = max(thread.log, default=0)
        markers = {key: marker for key in keys if (marker := self._marker(thread, key)) is not None}
        newest = max([thread.tip, *(marker.number for marker in markers.values())])
        if newest > last:
            raise UnreadableRecord(
                f"{thread_id!r}: tip or marker of commit {newest}, but the log ends at {last}"
            )
        commits = _commits(thread_id, thread.log, last) if last else []
        folded = fold_commits(FoldedThread(), commits)
        covered = folded.state.summary is not None
        return LoadedThread(
            folded=folded,
            inherited=Inherited() if covered else await self.inherit(folded.state.origin.lineage),
            last=commits[-1] if commits else None,
            tip=thread.tip,
            markers={key: marker.digest for key, marker in markers.items()},
            metadata={key: json.loads(text) for key, text in sorted(root.metadata.items())},
        )

    async def commit(self, commit: Commit) -> None:
        log = self._threads.setdefault(commit.thread_id, _Thread()).log
        there = log.setdefault(
            commit.number, _Written(commit_text(commit), commit.digest, commit.from_number)
        )
        if there.digest != commit.digest:
            raise LostRace(f"{commit.thread_id!r}: commit {commit.number} was made by another slice")

    async def mark(self, commit: Commit) -> None:
        thread = self._threads.setdefault(commit.thread_id, _Thread())
        for taken in marked_inputs(commit):
            marker = _Marker(commit.number, taken.body_digest, marker_expires_at(commit))
            thread.markers[taken.key] = marker
        metadata = metadata_set(commit)
        if metadata and commit.number >= thread.metadata_number:
            thread.metadata |= {key: canonical_json(value) for key, value in metadata.items()}
            thread.metadata_number = commit.number
        if commit.base is not None:
            thread.summaries[commit.base.summary.up_to_seq] = commit.number
        for log, reader in readers_made(commit):
            self._threads.setdefault(log, _Thread()).readers.add(reader)

    async def settled(self, commit: Commit, *, waiting: bool) -> None:
        thread = self._threads.setdefault(commit.thread_id, _Thread())
        if commit.number > thread.tip:
            thread.tip = commit.number
            thread.expires_at = thread_expires_at(commit, self._retention_days, waiting=waiting)

    async def locate(self, thread_id: str, seq: int) -> Ancestor | None:
        commits = self.commits(thread_id)
        holding = next((c.number for c in commits if c.first_seq <= seq <= c.last_seq), None)
        if holding is None:
            return None
        first = commits[holding - 2].from_number if holding > 1 else 1
        return self._from_newest_base(
            Ancestor(thread_id=thread_id, cutoff_seq=seq, first_commit=first, last_commit=holding)
        )

    async def inherit(self, lineage: Sequence[Ancestor]) -> Inherited:
        newest = [self._from_newest_base(ancestor) for ancestor in ranges_to_read(lineage)]
        return joined([self._range(ancestor) for ancestor in ranges_to_read(newest)])

    async def state_at(self, thread_id: str, number: int) -> ThreadState:
        return fold_commits(FoldedThread(), _commits(thread_id, self._thread(thread_id).log, number)).state

    async def park(self, parked: ParkedBody) -> None:
        record = {
            "source": parked.source,
            "reason": parked.reason,
            "first_seen": iso(parked.first_seen),
            "message_id": parked.message_id,
            "body": parked.body,
            "sender": parked.sender,
        }
        known_by = digest(parked.source, parked.message_id, parked.body)
        self._parked.setdefault(known_by, canonical_json(record))

    async def parked(self, limit: int = 1000) -> tuple[ParkedBody, ...]:
        """Parked bodies for people, oldest first."""
        records = [(known_by, json.loads(text)) for known_by, text in self._parked.items()]
        records.sort(key=lambda pair: (pair[1]["first_seen"], pair[0]))
        return tuple(_parked_body(record) for _, record in records[: max(0, limit)])

    async def entries(self, thread_id: str, after_seq: int = 0, limit: int = 1000) -> tuple[Entry, ...]:
        entries = (entry for commit in self.commits(thread_id) for entry in commit.entries)
        return tuple(entry for entry in entries if after_seq < entry.seq <= after_seq + limit)

    async def newest(self, thread_id: str) -> Commit | None:
        log = self._thread(thread_id).log
        return _read(log[max(log)]) if log else None

    async def page(self, thread_id: str, number: int, limit: int) -> LogPage:
        log = self._thread(thread_id).log
        numbers = sorted(known for known in log if known >= number)
        return LogPage(tuple(_read(log[known]) for known in numbers[:limit]), len(numbers) > limit)

    async def commit_holding(self, thread_id: str, seq: int) -> int:
        begins = (commit.number for commit in self.commits(thread_id) if commit.first_seq <= seq)
        return max(begins, default=1)

    async def taken_in(self, thread_id: str, key: InputKey) -> int | None:
        marker = self._marker(self._thread(thread_id), key)
        return marker.number if marker is not None else None

    async def parked_lately(self, limit: int) -> tuple[ParkedBody, ...]:
        return (await self.parked(len(self._parked)))[::-1][:limit]

    def commits(self, thread_id: str) -> tuple[Commit, ...]:
        """The thread's whole log, oldest first, for those who check it."""
        log = self._thread(thread_id).log
        return tuple(_read(log[number]) for number in sorted(log))

    async def readers(self, thread_id: str) -> tuple[str, ...]:
        """Ids of the children and forks that read this thread's log, for people."""
        return tuple(sorted(self._thread(thread_id).readers))

    def expires_at(self, thread_id: str) -> datetime | None:
        """When the thread expires; None while it waits for something, or is not settled."""
        return self._thread(thread_id).expires_at

    def _from_newest_base(self, ancestor: Ancestor) -> Ancestor:
        thread = self._thread(ancestor.thread_id)
        fitting = [pair for pair in thread.summaries.items() if pair[0] <= ancestor.cutoff_seq]
        if not fitting:
            return ancestor
        up_to_seq, base = max(fitting)
        return newest_base(ancestor, base, up_to_seq, thread.log[base].from_number)

    def _range(self, ancestor: Ancestor) -> RangeRead:
        log = self._thread(ancestor.thread_id).log
        if ancestor.base is not None and ancestor.base not in log:
            raise UnreadableRecord(f"{ancestor.thread_id!r}: base {ancestor.base} is missing")
        base = _read(log[ancestor.base]) if ancestor.base is not None else None
        numbers = range(ancestor.first_commit, ancestor.last_commit + 1)
        return RangeRead(ancestor, tuple(_read(log[number]) for number in numbers if number in log), base)

    def _thread(self, thread_id: str) -> _Thread:
        return self._threads.get(thread_id) or _Thread()

    def _marker(self, thread: _Thread, key: InputKey) -> _Marker | None:
        marker = thread.markers.get(key)
        return marker if marker is not None and marker.expires_at > self._clock.now() else None


def _commits(thread_id: str, log: dict[int, _Written], last: int) -> list[Commit]:
    """What a reader of the thread up to commit `last` needs: from that one's `from` on."""
    first = log[last].from_number if last in log else last
    missing = [number for number in range(first, last + 1) if number not in log]
    if missing or first > last:
        raise UnreadableRecord(f"{thread_id!r}: commits are missing from {first} on")
    return [_read(log[number]) for number in range(first, last + 1)]


def _read(written: _Written) -> Commit:
    commit = commit_from_text(written.text)
    commit.__dict__["digest"] = written.digest  # seeds the cached property
    return commit


def _parked_body(record: dict[str, Any]) -> ParkedBody:
    return ParkedBody(**{**record, "first_seen": parse_iso(record["first_seen"])})
