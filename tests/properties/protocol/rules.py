"""The rules of storage.md, one short method each.

Whatever could be got wrong about commit, settle, markers and tip is a decision here, and nothing else is: `slices`
only says what an invocation does between two decisions. A wrong variant (`variants`) overrides exactly one method, so
what the checker rejects is that rule, and not some other model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, combinations

from .facts import Commit, Input, Marker, Message, Store, Tip


@dataclass(frozen=True)
class Scenario:
    """How much of the world is explored. Everything inside these bounds is.

    `overlap` invocations may be alive at once; how many there are one after another has no bound. One invocation
    receives up to `batch` of the `inputs`. Every commit promises `messages`. With `two_rounds` a commit that consumed
    something leaves the thread runnable, for one more commit that consumes nothing. With `broken_queues` any message
    may, at any time, be found impossible to send for now.
    """

    inputs: str = "AB"
    overlap: int = 2
    batch: int = 1
    messages: int = 1
    two_rounds: bool = False
    broken_queues: bool = False

    def batches(self) -> tuple[frozenset[Input], ...]:
        """Every set of inputs that one invocation may receive."""
        sizes = range(1, self.batch + 1)
        return tuple(map(frozenset, chain.from_iterable(combinations(self.inputs, size) for size in sizes)))


@dataclass(frozen=True, slots=True)
class Newest:
    """A read of the newest commits: one strongly consistent query."""


@dataclass(frozen=True, slots=True)
class TipItem:
    """A read of the tip."""


@dataclass(frozen=True, slots=True)
class MarkerItem:
    """A read of one input's marker."""

    input: Input


Key = Newest | TipItem | MarkerItem


@dataclass(frozen=True, slots=True)
class View:
    """What one invocation has read of the store: no two parts of it need be of the same moment."""

    newest: Commit | None = None
    tip: int = 0
    markers: frozenset[Marker] = frozenset()

    @property
    def number(self) -> int:
        return self.newest.number if self.newest else 0


class Protocol:
    """The protocol as designed."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario

    def readable(self, unread: frozenset[Key]) -> frozenset[Key]:
        """Load: the newest commits first; then tip and markers, each key at its own moment."""
        return frozenset({Newest()}) if Newest() in unread else unread

    def is_outdated(self, view: View) -> bool:
        """A tip or marker beyond the last commit read: the log moved on while it was read, so load again."""
        return view.tip > view.number or any(marker.commit > view.number for marker in view.markers)

    def is_duplicate(self, input: Input, view: View) -> bool:
        """An input is a duplicate exactly if the last commit consumed it or its marker exists."""
        consumed_last = view.newest is not None and input in view.newest.consumed
        return consumed_last or any(marker.input == input for marker in view.markers)

    def must_settle(self, view: View, fresh: frozenset[Input]) -> bool:
        """Whoever finds the tip behind settles before it commits or acknowledges, whatever it came for."""
        return view.tip < view.number

    def may_move_tip(self, unconfirmed: frozenset[Message | Marker]) -> bool:
        """The tip moves when all of the commit is confirmed, and only then."""
        return not unconfirmed

    def move_tip(self, store: Store, number: int) -> Store:
        """Number and expiry in one update, under "absent or behind"; a failed condition is success."""
        return replace(store, tip=Tip(number, expiry_from=number)) if store.tip.number < number else store

    def may_carry(self, unconfirmed: frozenset[Message | Marker]) -> bool:
        """Unsendable messages may go into the next commit once all else is confirmed; markers never."""
        return all(isinstance(fact, Message) for fact in unconfirmed)

    def leaves_runnable(self, commit: Commit) -> bool:
        """The fold's answer to: must the thread go on after this commit?"""
        return self.scenario.two_rounds and bool(commit.consumed)

    def goes_on(self, view: View, fresh: frozenset[Input]) -> bool:
        """A slice commits if it has new input, and, even for a duplicate, if the thread is runnable."""
        return bool(fresh) or (view.newest is not None and self.leaves_runnable(view.newest))

    def draft(self, number: int, consumed: frozenset[Input], carried: frozenset[Message]) -> Commit:
        """The next commit: its own messages under new ids, carried ones under their old."""
        own = frozenset(Message(number, position) for position in range(1, self.scenario.messages + 1))
        return Commit(number, consumed, own | carried)

    def sendable_before_commit(self, draft: Commit) -> frozenset[Message]:
        """Nothing leaves a slice before the commit that contains it."""
        return frozenset()

    def put_commit(self, store: Store, draft: Commit) -> Store | None:
        """One conditional write: the number must be free. None if it is taken."""
        if any(commit.number == draft.number for commit in store.log):
            return None
        return replace(store, log=(*store.log, draft))

    def takes_for_its_own(self, found: Commit, draft: Commit) -> bool:
        """A commit is recognised by a digest of all its content; a loser never passes for the winner."""
        return False
