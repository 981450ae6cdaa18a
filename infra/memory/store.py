"""`MemoryStore`: the thread store in this process, with the outcomes of the DynamoDB one (held by the contract tests).

Everything is kept as JSON text, so what is read is always a copy, and what a store cannot keep is not kept here either.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from core.clock import SYSTEM_CLOCK, Clock, iso, parse_iso
from core.commit import Commit, metadata_set
from core.entries import Entry
from core.errors import UnreadableRecord
from core.fold import fold_commits
from core.ids import digest, root_of
from core.keeping import Cleared
from core.lineage import RangeRead, joined, newest_base, ranges_to_read
from core.messages import InputKey
from core.ports import LoadedThread, ParkedBody
from core.text import canonical_json
from core.thread import Ancestor, FoldedThread, Inherited, ThreadState
from infra.log_reader import LogPage
from infra.memory.thread import Marker, Thread, read
from infra.store_rules import (
    RETENTION_DAYS,
    begins_anew,
    marked_inputs,
    marker_expires_at,
    readers_made,
    summary_made,
    thread_expires_at,
)


class MemoryStore:
    """Implements `core.importing.RestoringStore` and `infra.log_reader.LogReader`. One event loop at a time; no method
    waits, so each is atomic.
    """

    def __init__(self, clock: Clock = SYSTEM_CLOCK, *, retention_days: int = RETENTION_DAYS) -> None:
        self._clock = clock
        self._retention_days = retention_days
        self._threads: dict[str, Thread] = {}
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
        commits = thread.since(thread_id, last) if last else []
        folded = fold_commits(FoldedThread(), commits)
        covered = folded.state.summary is not None
        return LoadedThread(
            folded=folded,
            inherited=Inherited() if covered else await self.inherit(folded.state.origin.lineage),
            last=commits[-1] if commits else None,
            tip=thread.tip,
            markers={key: marker.digest for key, marker in markers.items()},
            metadata={} if commits and commits[-1].erased else _metadata(root),
        )

    async def commit(self, commit: Commit) -> None:
        thread = self._threads.setdefault(commit.thread_id, Thread())
        if begins_anew(commit):
            thread.keep_ending(commit)
        thread.write(commit, self._clock.now())

    async def mark(self, commit: Commit) -> None:
        thread = self._threads.setdefault(commit.thread_id, Thread())
        for taken in marked_inputs(commit):
            marker = Marker(commit.number, taken.body_digest, marker_expires_at(commit))
            thread.markers[taken.key] = marker
        metadata = metadata_set(commit)
        if metadata and commit.number >= thread.metadata_number:
            thread.metadata |= {key: canonical_json(value) for key, value in metadata.items()}
            thread.metadata_number = commit.number
        if (up_to_seq := summary_made(commit)) is not None:
            thread.summaries[up_to_seq] = commit.number
        for log, reader in readers_made(commit):
            self._threads.setdefault(log, Thread()).readers.add(reader)

    async def settled(self, commit: Commit, *, waiting: bool) -> None:
        thread = self._threads.setdefault(commit.thread_id, Thread())
        if commit.number > thread.tip:
            thread.tip = commit.number
            thread.expires_at = thread_expires_at(commit, self._retention_days, waiting=waiting)

    async def locate(self, thread_id: str, seq: int) -> Ancestor | None:
        log, newest = self._thread(thread_id).log, await self.newest(thread_id)
        erased_seq = newest.erased_seq if newest else None
        commits = self.commits(thread_id)
        holding = next((c.number for c in commits if c.first_seq <= seq <= c.last_seq), None)
        if holding is None or seq <= (erased_seq or 0):
            return None
        first = log[holding - 1].from_number if holding > 1 else 1
        return self._from_newest_base(
            Ancestor(
                thread_id=thread_id,
                cutoff_seq=seq,
                first_commit=first,
                last_commit=holding,
                after_seq=erased_seq,
            )
        )

    async def inherit(self, lineage: Sequence[Ancestor]) -> Inherited:
        newest = [self._from_newest_base(ancestor) for ancestor in ranges_to_read(lineage)]
        return joined([self._range(ancestor) for ancestor in ranges_to_read(newest)])

    async def state_at(self, thread_id: str, number: int) -> ThreadState:
        return fold_commits(FoldedThread(), self._thread(thread_id).since(thread_id, number)).state

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
        newest = await self.newest(thread_id)
        after_seq = max(after_seq, newest.erased_seq or 0 if newest else 0)
        entries = (entry for commit in self.commits(thread_id) for entry in commit.entries)
        return tuple(entry for entry in entries if after_seq < entry.seq <= after_seq + limit)

    async def newest(self, thread_id: str) -> Commit | None:
        log = self._thread(thread_id).log
        return read(log[max(log)]) if log else None

    async def page(self, thread_id: str, number: int, limit: int) -> LogPage:
        log = self._thread(thread_id).log
        numbers = sorted(known for known in log if known >= number)
        return LogPage(tuple(read(log[known]) for known in numbers[:limit]), len(numbers) > limit)

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
        return tuple(read(log[number]) for number in sorted(log))

    async def readers(self, thread_id: str) -> tuple[str, ...]:
        """Ids of the children and forks that read this thread's log, for people."""
        return tuple(sorted(self._thread(thread_id).readers))

    async def look_again(self, thread_id: str, at: datetime) -> None:
        thread = self._threads.setdefault(thread_id, Thread())
        if thread.tip == 0:
            thread.expires_at = at

    async def drop_readers(self, pairs: Sequence[tuple[str, str]]) -> None:
        for log, reader in pairs:
            self._thread(log).readers.discard(reader)

    async def clear(self, erasing: Commit) -> Cleared:
        return self._thread(erasing.thread_id).clear(erasing)

    async def bury(self, erasing: Commit) -> bool:
        thread = self._thread(erasing.thread_id)
        gone = not thread.stands(erasing)
        if not gone and (gone := thread.bury(erasing)):
            self._threads.pop(erasing.thread_id, None)
        return gone

    async def hold(self, last: Commit, now: datetime, *, waiting: bool) -> None:
        await self.settled(last.model_copy(update={"at": now}), waiting=waiting)

    async def release(self, last: Commit) -> None:
        thread = self._thread(last.thread_id)
        if thread.tip == last.number:
            thread.tip, thread.expires_at = 0, None

    def traces(self, thread_id: str) -> set[str]:
        """Kinds of what is left of a thread, as `infra/dynamodb/keys.py` names them."""
        return self._thread(thread_id).traces

    def expire(self, now: datetime) -> tuple[str, ...]:
        """Remove what has expired, as the table does; returns the threads whose tip it was."""
        expired = [name for name, thread in self._threads.items() if (thread.expires_at or now) < now]
        for thread_id in expired:
            thread = self._threads[thread_id]
            thread.tip, thread.expires_at = 0, None
        return tuple(expired)

    def expires_at(self, thread_id: str) -> datetime | None:
        """When the thread expires; None while it waits for something, or is not settled."""
        return self._thread(thread_id).expires_at

    def _from_newest_base(self, ancestor: Ancestor) -> Ancestor:
        thread = self._thread(ancestor.thread_id)
        first_seq = 0 if ancestor.after_seq is None else ancestor.after_seq + 1
        fitting = [pair for pair in thread.summaries.items() if first_seq <= pair[0] <= ancestor.cutoff_seq]
        if not fitting:
            return ancestor
        up_to_seq, base = max(fitting)
        return newest_base(ancestor, base, up_to_seq, thread.log[base].from_number)

    def _range(self, ancestor: Ancestor) -> RangeRead:
        log = self._thread(ancestor.thread_id).log
        if ancestor.base is not None and ancestor.base not in log:
            raise UnreadableRecord(f"{ancestor.thread_id!r}: base {ancestor.base} is missing")
        base = read(log[ancestor.base]) if ancestor.base is not None else None
        numbers = range(ancestor.first_commit, ancestor.last_commit + 1)
        return RangeRead(ancestor, tuple(read(log[number]) for number in numbers if number in log), base)

    def _thread(self, thread_id: str) -> Thread:
        return self._threads.get(thread_id) or Thread()

    def _marker(self, thread: Thread, key: InputKey) -> Marker | None:
        marker = thread.markers.get(key)
        return marker if marker is not None and marker.expires_at > self._clock.now() else None


def _metadata(root: Thread) -> dict[str, Any]:
    return {key: json.loads(text) for key, text in sorted(root.metadata.items())}


def _parked_body(record: dict[str, Any]) -> ParkedBody:
    return ParkedBody(**{**record, "first_seen": parse_iso(record["first_seen"])})
