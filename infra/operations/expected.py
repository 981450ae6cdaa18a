"""What a log says that its rows must hold: markers, `SUM#`, `READER#`, `META`, collected commit by commit."""

from dataclasses import dataclass, field
from datetime import datetime

from core.commit import Commit, metadata_set
from core.entries import ToolResult
from core.messages import InputKey
from core.outbox import Carried
from core.text import canonical_json
from infra.store_rules import marked_inputs, marker_expires_at, readers_made, summary_made


@dataclass(frozen=True, slots=True)
class Marked:
    """A marker that a commit leaves."""

    number: int
    digest: str
    expires_at: datetime


@dataclass(slots=True)
class Expected:
    """By key, with the commit that is to have written it."""

    markers: dict[InputKey, Marked] = field(default_factory=dict)
    again: list[tuple[InputKey, int, int]] = field(default_factory=list)
    """Inputs that two commits took in, while a marker of the first was there."""
    summaries: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Number and `from` of the base, by the seq up to which it covers."""
    readers: dict[tuple[str, str], int] = field(default_factory=dict)
    """The commit that makes the reader, by (log, reader)."""
    metadata: dict[str, tuple[str, int]] = field(default_factory=dict)
    """JSON text and commit, by key."""
    read: set[int] = field(default_factory=set)
    """The commits that could be read: of others nothing is known."""
    excused: set[int] = field(default_factory=set)
    """Commits that could be written before the one before was settled: they carry on, or answer, what it could not
    send."""

    def take(self, commit: Commit) -> None:
        """Add what one more commit makes."""
        self.read.add(commit.number)
        for taken in marked_inputs(commit):
            before = self.markers.get(taken.key)
            if before is not None and before.expires_at > commit.at:
                self.again.append((taken.key, before.number, commit.number))
            self.markers[taken.key] = Marked(commit.number, taken.body_digest, marker_expires_at(commit))
        covered = summary_made(commit)
        if covered is not None:
            self.summaries[covered] = (commit.number, commit.from_number)
        for reader in readers_made(commit):
            self.readers.setdefault(reader, commit.number)
        for name, value in metadata_set(commit).items():
            self.metadata[name] = (canonical_json(value), commit.number)
        answers = any(isinstance(e, ToolResult) and e.outcome == "error" for e in commit.entries)
        if answers or any(isinstance(message, Carried) for message in commit.outbox):
            self.excused.add(commit.number)
