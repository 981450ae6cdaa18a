"""What a check finds: which rule is broken, where, what is there, and what a person can do about it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. `note`: nothing is broken by it, or it may mend itself in a moment."""

    rule: str
    """An invariant of architecture.md, or a word of storage.md."""
    where: str
    what: str
    do: str
    note: bool = False


RESTORE = (
    "bring the table back to a point in time before (AWS Backup, point-in-time recovery), or erase the thread"
)
"""Where stored data is gone or changed: nothing that Torpor does can lead there, or back."""
SETTLE = "torpor settle THREAD"
