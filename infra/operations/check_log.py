"""The rules of a log, commit by commit: numbers, digests, seqs, birth, where readers start, and what a snapshot says.

One pass, oldest first; keeps what the fold is and a few numbers, never the entries.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from core.commit import Commit
from core.errors import UnreadableRecord
from core.fold import fold_commit
from core.thread import ThreadState
from infra.operations.check_calls import CallCheck
from infra.operations.expected import Expected
from infra.operations.findings import RESTORE, Finding

SAID_BY_ITS_COMMIT = ("summary", "base_number", "app_kept")
"""Of a base's snapshot: what this very commit brings. Everything else of it is the fold."""
IN_NO_ORDER = ("past_usage",)
"""Not compared: inside one commit its order may be another."""


@dataclass(frozen=True, slots=True)
class ReadCommit:
    """A commit as it was found."""

    number: int
    commit: Commit | None
    fault: str | None = None
    """Why there is no commit: its record cannot be read."""
    content_digest: str | None = None
    """Of what was read. None where a value of it is gone."""
    from_number: int = 0
    """Beside the record, as `first_seq`: what readers go by who look for where to begin."""
    first_seq: int = 0
    gone: tuple[str, ...] = ()
    """Addresses of its large values that are not there."""
    changed: tuple[str, ...] = ()
    """Addresses whose values are not those that were put there."""


class LogCheck:
    """Takes the commits of one thread in order, and yields what is wrong with each."""

    def __init__(self, thread_id: str) -> None:
        self._thread_id = thread_id
        self.number = 0
        """Of the commit taken last."""
        self.commits = 0
        self.last: Commit | None = None
        self.state: ThreadState | None = ThreadState()
        """The fold; None where a part of the log it needs is missing, until a snapshot says it again."""
        self.expected = Expected()
        self._calls = CallCheck()
        self._starts: list[tuple[int, int]] = []

    def take(self, read: ReadCommit) -> Iterator[Finding]:
        """What is wrong with the next commit."""
        where, commit = f"commit {read.number}", read.commit
        yield from self._numbered(read)
        self.number = read.number
        self.commits += 1
        for uri in read.gone:
            yield Finding("payload", where, f"{uri} is gone: a note stands in its place", RESTORE, note=True)
        for uri in read.changed:
            yield Finding("payload", where, f"{uri} has another content than it was put there with", RESTORE)
        if commit is None:
            self._lose()
            yield Finding("atomic commit", where, f"cannot be read: {read.fault}", RESTORE)
            return
        if commit.erased is not None:
            self._begin_anew(commit)
        yield from self._as_written(read, commit)
        yield from self._continues(commit)
        yield from self._calls.take(commit)
        yield from self._folded(commit)
        self.expected.take(commit)
        self.last = commit

    def _numbered(self, read: ReadCommit) -> Iterator[Finding]:
        begins = self.commits == 0 and read.commit is not None and read.commit.erased is not None
        if read.number == self.number + 1 or begins:
            return
        missing = f"commits {self.number + 1} to {read.number - 1} are missing"
        yield Finding("append-only", f"commit {read.number}", missing, RESTORE)
        self._lose()

    def _lose(self) -> None:
        """A part of the log cannot be read."""
        self.state, self.last = None, None
        self._calls.lose()

    def _begin_anew(self, ending: Commit) -> None:
        """What stood before was erased."""
        self.expected = Expected()
        self._calls = CallCheck()
        self._starts.clear()
        self.last = None
        self.state = ThreadState(number=ending.number - 1, last_seq=ending.first_seq - 1)

    def _as_written(self, read: ReadCommit, commit: Commit) -> Iterator[Finding]:
        where = f"commit {read.number}"
        if (commit.thread_id, commit.number) != (self._thread_id, read.number):
            found = f"is commit {commit.number} of {commit.thread_id!r}"
            yield Finding("append-only", where, found, RESTORE)
        if read.content_digest is not None and read.content_digest != commit.digest:
            yield Finding("append-only", where, "its content is not the one it was written with", RESTORE)
        beside, inside = (read.from_number, read.first_seq), (commit.from_number, commit.first_seq)
        if beside != inside:
            what = f"from {beside[0]} and first seq {beside[1]} stand beside it, {inside[0]} and {inside[1]} in it"
            yield Finding("append-only", where, what, RESTORE)

    def _continues(self, commit: Commit) -> Iterator[Finding]:
        where = f"commit {commit.number}"
        if self.last is not None:
            if commit.first_seq != self.last.last_seq + 1:
                what = (
                    f"its entries begin with {commit.first_seq}, the last one before is {self.last.last_seq}"
                )
                yield Finding("append-only", where, what, RESTORE)
            if commit.birth != self.last.birth:
                yield Finding("derived ids", where, "it belongs to another log of this thread", RESTORE)
            if commit.origin is not None and self.last.erased is None:
                yield Finding("append-only", where, "it says again where the thread comes from", RESTORE)
        elif commit.number == 1 and commit.first_seq != 1:
            yield Finding("append-only", where, f"the first entry is {commit.first_seq}", RESTORE)

    def _folded(self, commit: Commit) -> Iterator[Finding]:
        before = self.state
        try:
            self.state = fold_commit(before or ThreadState(), commit)
        except (UnreadableRecord, LookupError, TypeError, ValueError) as error:
            self.state = None
            yield Finding("atomic commit", f"commit {commit.number}", f"cannot be folded: {error}", RESTORE)
            return
        if before is None and commit.snapshot is None:
            self.state = None
        if before is not None:
            yield from self._starts_right(commit, before)
            yield from self._snapshot_is_the_fold(commit, before, self.state)
        self._note_starts(commit)

    def _starts_right(self, commit: Commit, before: ThreadState) -> Iterator[Finding]:
        if commit.checkpoint is not None or commit.erased is not None:
            right = commit.number
        elif commit.base is not None:
            first = max(commit.base.summary.up_to_seq, commit.erased_seq or 0) + 1
            holding = (number for begins, number in reversed(self._starts) if begins <= first)
            right = commit.number if first > before.last_seq else next(holding, commit.from_number)
        else:
            right = before.from_number if before.number else commit.number
        if commit.from_number != right:
            what = f"readers are told to start at {commit.from_number}, it should be {right}"
            yield Finding("bounded", f"commit {commit.number}", what, RESTORE)

    def _snapshot_is_the_fold(
        self, commit: Commit, before: ThreadState, after: ThreadState | None
    ) -> Iterator[Finding]:
        if after is None or commit.snapshot is None or commit.erased is not None:
            return
        plain = commit.model_copy(update={"base": None, "checkpoint": None})
        plain.__dict__["digest"] = commit.digest  # ids of what it sends are derived from it
        folded = fold_commit(before, plain)
        given = SAID_BY_ITS_COMMIT if commit.base is not None else ()
        differ = [
            name
            for name in ThreadState.model_fields
            if name not in (*given, *IN_NO_ORDER) and getattr(folded, name) != getattr(after, name)
        ]
        if commit.base is not None and after.summary != commit.base.summary:
            differ.append("summary")
        if differ:
            what = f"its snapshot says something else than the commits before it: {', '.join(differ)}"
            yield Finding("bounded", f"commit {commit.number}", what, RESTORE)

    def _note_starts(self, commit: Commit) -> None:
        carried = commit.checkpoint.carried if commit.checkpoint else ()
        self._starts += [(part[0].seq, commit.number) for part in (carried, commit.entries) if part]
        if commit.snapshot is not None:
            self._starts = [start for start in self._starts if start[1] >= commit.from_number]
