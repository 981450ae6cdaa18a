"""What the memory store keeps of one thread: its log as JSON text, and what is said beside it."""

from dataclasses import dataclass, field
from datetime import datetime

from core.commit import Commit, commit_from_text, commit_text
from core.errors import LostRace, UnreadableRecord
from core.keeping import Cleared
from core.messages import InputKey
from infra.store_rules import STUB_LIFETIME


@dataclass(frozen=True, slots=True)
class Written:
    """A commit."""

    text: str
    digest: str
    from_number: int


@dataclass(frozen=True, slots=True)
class Marker:
    """Of a consumed input."""

    number: int
    digest: str
    expires_at: datetime


@dataclass(slots=True)
class Thread:
    """Everything of a thread."""

    log: dict[int, Written] = field(default_factory=dict)
    tip: int = 0
    expires_at: datetime | None = None
    markers: dict[InputKey, Marker] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    """JSON text by key."""
    metadata_number: int = 0
    summaries: dict[int, int] = field(default_factory=dict)
    """Number of the base by the seq up to which it covers."""
    readers: set[str] = field(default_factory=set)
    stubs: dict[int, datetime] = field(default_factory=dict)
    """Until when the number of a commit that was erased stays taken."""
    kept: set[int] = field(default_factory=set)
    """Numbers of commits that erased a log and stay, since another began behind them."""

    def write(self, commit: Commit, now: datetime) -> None:
        """Raises LostRace."""
        if self.stubs.get(commit.number, now) > now:
            raise LostRace(f"{commit.thread_id!r}: commit {commit.number} was erased")
        new = Written(commit_text(commit), commit.digest, commit.from_number)
        if self.log.setdefault(commit.number, new).digest != commit.digest:
            raise LostRace(f"{commit.thread_id!r}: commit {commit.number} was made by another slice")

    def keep_ending(self, commit: Commit) -> None:
        """Keep the commit that erased the log before this first one of another, and none of that log's metadata.

        Raises LostRace if it has gone.
        """
        if commit.number - 1 not in self.log:
            raise LostRace(f"{commit.thread_id!r}: what erased its log before has just gone")
        self.kept.add(commit.number - 1)
        self.empty_metadata(commit.number - 1)

    def since(self, thread_id: str, last: int) -> list[Commit]:
        """What a reader up to commit `last` needs: from that one's `from` on. Raises UnreadableRecord at a gap."""
        first = self.log[last].from_number if last in self.log else last
        missing = [number for number in range(first, last + 1) if number not in self.log]
        if missing or first > last:
            raise UnreadableRecord(f"{thread_id!r}: commits are missing from {first} on")
        return [read(self.log[number]) for number in range(first, last + 1)]

    def clear(self, erasing: Commit) -> Cleared:
        """As `core.keeping.KeepingStore`."""
        if not self.stands(erasing):
            return Cleared()
        deleted = [number for number in self.log if number < erasing.number]
        for number in deleted:
            del self.log[number]
            self.stubs[number] = erasing.at + STUB_LIFETIME
        for up_to_seq in [seq for seq in self.summaries if seq <= (erasing.erased_seq or 0)]:
            del self.summaries[up_to_seq]
        self.empty_metadata(erasing.number)
        return Cleared(commits=len(deleted))

    def empty_metadata(self, number: int) -> None:
        """Nothing older than the commit `number` is said of the thread any more."""
        if self.metadata_number < number:
            self.metadata, self.metadata_number = {}, number

    def bury(self, erasing: Commit) -> bool:
        """Forget old markers; True if the rest may go too."""
        if not self.stands(erasing):
            return False
        self.markers = {key: marker for key, marker in self.markers.items() if marker.number > erasing.number}
        return erasing.number not in self.kept

    def stands(self, erasing: Commit) -> bool:
        """Whether this commit is there: else somebody has taken what it ended, and what is there is new."""
        there = self.log.get(erasing.number)
        return there is not None and there.digest == erasing.digest

    @property
    def traces(self) -> set[str]:
        """Kinds of what there is."""
        kinds = {"C": self.log, "TIP": self.tip, "MSG": self.markers, "META": self.metadata_number}
        kinds |= {"SUM": self.summaries, "READER": self.readers}
        return {kind for kind, there in kinds.items() if there}


def read(written: Written) -> Commit:
    """The commit, under the digest it was written with."""
    commit = commit_from_text(written.text)
    commit.__dict__["digest"] = written.digest  # seeds the cached property
    return commit
