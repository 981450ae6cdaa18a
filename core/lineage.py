"""Lineage: what a child or a fork reads of the logs before its own, as pure functions over what a store has loaded."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.changes import EntriesHidden
from core.commit import Commit
from core.entries import Entry
from core.errors import UnreadableRecord
from core.render import with_placeholder
from core.thread import Ancestor, Hidden, Inherited


@dataclass(frozen=True, slots=True)
class RangeRead:
    """What a store has read for one ancestor."""

    ancestor: Ancestor
    commits: tuple[Commit, ...] = ()
    """Ascending, those from the first entry that `base` does not cover to the one that holds the cutoff; the first may
    carry entries of earlier ones."""
    base: Commit | None = None
    """The newest base that covers nothing beyond the cutoff; itself often newer than `commits`."""


def ranges_to_read(lineage: Sequence[Ancestor]) -> tuple[Ancestor, ...]:
    """The part of a lineage that has to be read: a base covers its own thread's ancestors too."""
    based = [index for index, ancestor in enumerate(lineage) if ancestor.base is not None]
    return tuple(lineage[based[-1] if based else 0 :])


def newest_base(ancestor: Ancestor, base: int, up_to_seq: int, from_number: int) -> Ancestor:
    """The same ancestor read from `base`, if that is newer than its own. It covers entries up to `up_to_seq`, which is
    not beyond the cutoff, and its own readers start at `from_number`.
    """
    if base <= (ancestor.base or 0):
        return ancestor
    first_commit = max(ancestor.first_commit, from_number)
    if first_commit > ancestor.last_commit and up_to_seq < ancestor.cutoff_seq:
        # Those readers find the rest in a checkpoint after the cutoff; it stands in this range as well.
        first_commit = ancestor.first_commit
    return ancestor.model_copy(update={"base": base, "first_commit": first_commit})


def joined(ranges: Sequence[RangeRead]) -> Inherited:
    """One history of these ranges, oldest ancestor first. Raises UnreadableRecord if commits are missing.

    Entries beyond a cutoff are dropped: it may fall inside a commit.
    """
    based = [index for index, read in enumerate(ranges) if read.base is not None]
    wanted = ranges[based[-1] if based else 0 :]
    base = wanted[0].base if wanted else None
    entries = tuple(entry for read in wanted for entry in _entries(read))
    if base is None or base.base is None:
        return Inherited(entries=entries)
    return Inherited(base.base.summary, entries, base.base.snapshot.app_kept)


def _entries(read: RangeRead) -> list[Entry]:
    summed = read.base.base.summary.up_to_seq if read.base is not None and read.base.base is not None else 0
    covered = max(summed, read.ancestor.after_seq or 0)
    placeholders = {hidden.seq: hidden for hidden in _hidden(read)}
    return [with_placeholder(entry, placeholders.get(entry.seq)) for entry in _whole(read, covered)]


def _whole(read: RangeRead, covered: int) -> list[Entry]:
    """The entries after `covered`, each once, from wherever the range holds them. Raises UnreadableRecord unless every
    commit of the range is there, and every entry up to the cutoff (*append-only*).
    """
    first, last = read.ancestor.first_commit, read.ancestor.last_commit
    if [commit.number for commit in read.commits] != list(range(first, last + 1)):
        raise UnreadableRecord(f"{read.ancestor.thread_id!r}: commits are missing from {first} to {last}")
    entries, cutoff = list[Entry](), read.ancestor.cutoff_seq
    for entry in (entry for commit in read.commits for entry in commit.held):
        if entry.seq == covered + len(entries) + 1 <= cutoff:
            entries.append(entry)
    if (missing := covered + len(entries) + 1) <= cutoff:
        raise UnreadableRecord(
            f"{read.ancestor.thread_id!r}: entry {missing} is missing before the cutoff {cutoff}"
        )
    return entries


def _hidden(read: RangeRead) -> list[Hidden]:
    """What the ancestor hides of its entries, the strongest last: nothing is shown more of again."""
    base = read.base
    before = [commit for commit in read.commits if base is not None and commit.number <= base.number]
    after = read.commits[len(before) :]
    snapshot = base.base.snapshot.hidden if base is not None and base.base is not None else ()
    return [*_recorded(before), *snapshot, *_recorded(after), *read.ancestor.hidden]


def _recorded(commits: Sequence[Commit]) -> list[Hidden]:
    return [hidden for commit in commits for hidden in _hidden_by(commit)]


def _hidden_by(commit: Commit) -> Sequence[Hidden]:
    """What the commit hides; a checkpoint says it of all commits before it too."""
    if commit.checkpoint is not None:
        return commit.checkpoint.snapshot.hidden
    changes = (change for change in commit.changes if isinstance(change, EntriesHidden))
    return [hidden for change in changes for hidden in change.entries]
