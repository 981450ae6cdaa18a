"""Where a thread comes from, and what it reads of the logs before its own. Apart from `core/thread.py`, which gives
these names on: that tells what a thread has become.
"""

from typing import Literal

from core.blocks import Value


class Hidden(Value):
    """An entry that later requests show otherwise: what a filter blocked, media that a model refused, or what is too
    long for its window.
    """

    seq: int
    what: Literal["all", "media", "long"]


class Ancestor(Value):
    """One step of a lineage: how much of an ancestor's log a thread inherits (storage.md, "Load")."""

    thread_id: str
    cutoff_seq: int
    first_commit: int
    last_commit: int
    base: int | None = None
    after_seq: int | None = None
    """The last entry of an earlier log under this id, which was erased: nothing up to it is read."""
    hidden: tuple[Hidden, ...] = ()
    """What of the range was hidden when it was inherited: the commits that say so may come after it."""


ChildKind = Literal["spawned", "event", "compaction"]
"""Spawned by the model; for one event of a subscription; to summarise."""


class ForkPoint(Value):
    """The thread, and the last entry of it, that a fork shares."""

    thread_id: str
    seq: int


class Origin(Value):
    """Where a thread comes from. Written once, by its first commit."""

    agent: str | None = None
    """The agent asked for; None means the app's default."""
    kind: ChildKind | None = None
    """Of a child thread."""
    ancestors: tuple[str, ...] = ()
    """Ids from the root to the parent; empty for a root."""
    spawning_call: str | None = None
    """The call of the parent that a child belongs to."""
    lineage: tuple[Ancestor, ...] = ()
    """What is read of other logs before the thread's own, oldest first."""
    forked_from: ForkPoint | None = None

    @property
    def parent(self) -> str | None:
        return self.ancestors[-1] if self.ancestors else None
