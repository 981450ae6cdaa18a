"""Protocols that look right and are not. Each overrides one rule; its docstring tells what goes wrong, in words.

`breaks` names the properties it violates, each looked for by itself: that a tip is too early is one thing; that an
input is consumed twice because of it is why it matters. `test_protocol` tells how to see the shortest run into each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from .facts import Commit, Input, Marker, Message, Store, Tip
from .properties import Property
from .rules import Key, Newest, Protocol, Scenario, View


class Wrong(Protocol):
    """A protocol that the checker must reject, and the smallest scenario that shows why."""

    breaks: ClassVar[tuple[Property, ...]]
    shown_by: ClassVar[Scenario] = Scenario()


# The tip and the markers


class TipAndMarkersInOneBatchWrite(Wrong):
    """A batch write is neither ordered nor atomic: the tip can land, and then the invocation dies without the marker.

    The tip says settled, so the next slice, there for B, commits without looking back. A, redelivered, is now not in
    the last commit and has no marker: it is taken for new.
    """

    breaks = (Property.TIP_IS_TRUE, Property.ONCE)

    def may_move_tip(self, unconfirmed: frozenset[Message | Marker]) -> bool:
        return not any(isinstance(fact, Message) for fact in unconfirmed)


class TipBeforeOutbox(Wrong):
    """The tip says that nothing is left to do, so nobody ever does it.

    An invocation writes A's marker, moves the tip, and dies before it has sent the outbox. A, redelivered, is found
    consumed and settled, and is acknowledged. The message is lost.
    """

    breaks = (Property.TIP_IS_TRUE, Property.ACKNOWLEDGED_AFTER_SETTLED)
    shown_by = Scenario(inputs="A")

    def may_move_tip(self, unconfirmed: frozenset[Message | Marker]) -> bool:
        return not any(isinstance(fact, Marker) for fact in unconfirmed)


class TipMovesBackWithItsExpiry(Wrong):
    """Number and expiry are put together without a condition, "the expiry must be refreshed anyway".

    An invocation has confirmed all of commit 1 and pauses. Its successors settle 1, commit 2 and settle it. The zombie
    wakes up and puts tip 1 over tip 2, with the expiry of its own day: commit 2 counts as unsettled, though its
    inputs are acknowledged and nobody is left to come by, and the thread expires by the wrong commit's clock.
    """

    breaks = (Property.TIP_ONLY_ADVANCES, Property.NEVER_STUCK)

    def move_tip(self, store: Store, number: int) -> Store:
        return replace(store, tip=Tip(number, expiry_from=number))


class ExpiryOutsideTheCondition(Wrong):
    """The number is guarded, the expiry is "only" refreshed beside it.

    The zombie of commit 1 fails on the number, yet sets the expiry of commit 1 beside the number of commit 2. If 2
    came much later, that instant has passed: the store removes the tip, and with it starts the end of a living log.
    """

    breaks = (Property.TIP_ONLY_ADVANCES,)

    def move_tip(self, store: Store, number: int) -> Store:
        return replace(store, tip=Tip(max(number, store.tip.number), expiry_from=number))


# Loading


class MarkersReadInParallelWithNewest(Wrong):
    """One step less to load; but what two parallel reads saw need never have been true together.

    An invocation with A reads the markers: none for A. Another consumes A in commit 1 and settles it, a third
    consumes B in commit 2. Now the first one's query of the newest commit answers: 2, which has no A. The tip may even
    be right. A is taken for new.
    """

    breaks = (Property.ONCE,)

    def readable(self, unread: frozenset[Key]) -> frozenset[Key]:
        return unread


class MarkersReadBeforeNewest(MarkersReadInParallelWithNewest):
    """The same failure, no luck needed: whatever is consumed between the two reads is seen by neither."""

    def readable(self, unread: frozenset[Key]) -> frozenset[Key]:
        return unread - {Newest()} or unread


class OutdatedViewAccepted(Wrong):
    """A marker beyond the newest commit read is taken as proof enough that the input is done.

    An invocation with A reads an empty log. Another consumes A in commit 1, writes its marker and dies before it has
    sent the outbox. The first now reads the marker: a duplicate, and nothing that it knows of to settle. It
    acknowledges A, and nobody is left to send.
    """

    breaks = (Property.ACKNOWLEDGED_AFTER_SETTLED,)
    shown_by = Scenario(inputs="A")

    def is_outdated(self, view: View) -> bool:
        return False


class DuplicatesByMarkerOnly(Wrong):
    """Between commit and marker an input is known by the commit alone.

    An invocation consumes A in commit 1 and dies. A, redelivered, has no marker: it is taken for new (the slice even
    settles commit 1, and writes A's marker, before it commits A again).
    """

    breaks = (Property.ONCE,)
    shown_by = Scenario(inputs="A")

    def is_duplicate(self, input: Input, view: View) -> bool:
        return any(marker.input == input for marker in view.markers)


class DuplicatesByLastCommitOnly(Wrong):
    """A duplicate can come later than the next commit.

    A is consumed in commit 1, B in commit 2; then the producer's second copy of A arrives and is taken for new.
    """

    breaks = (Property.ONCE,)

    def is_duplicate(self, input: Input, view: View) -> bool:
        return view.newest is not None and input in view.newest.consumed


# Settling


class NextCommitWithoutSettling(Wrong):
    """Whoever brings new input leaves the last commit to the one who made it, who is dead.

    An invocation consumes A in commit 1 and dies. The next, there for B, commits 2. A's marker was never written, and
    A is not in the last commit: redelivered, it is taken for new.
    """

    breaks = (Property.SETTLED_BEFORE_NEXT, Property.ONCE)

    def must_settle(self, view: View, fresh: frozenset[Input]) -> bool:
        return view.tip < view.number and not fresh


class DuplicateAcknowledgedWithoutSettling(Wrong):
    """A duplicate changes nothing, so it is acknowledged at once.

    An invocation consumes A in commit 1 and dies before it has sent the outbox. A, redelivered, is a duplicate and is
    acknowledged. Nothing else is ever delivered, and nobody sends.
    """

    breaks = (Property.ACKNOWLEDGED_AFTER_SETTLED, Property.NEVER_STUCK)
    shown_by = Scenario(inputs="A")

    def must_settle(self, view: View, fresh: frozenset[Input]) -> bool:
        return view.tip < view.number and bool(fresh)


class SettledDuplicateDoesNotGoOn(Wrong):
    """A duplicate of a settled commit has nothing to add and nothing to settle, so it is acknowledged.

    An invocation consumes A in commit 1, which leaves the thread runnable (inline tools were run), settles it, and
    dies before the next round. A, redelivered, is acknowledged, and the next round is never made.
    """

    breaks = (Property.NEVER_STUCK,)
    shown_by = Scenario(inputs="A", two_rounds=True)

    def goes_on(self, view: View, fresh: frozenset[Input]) -> bool:
        return bool(fresh) or (view.tip < view.number and super().goes_on(view, fresh))


class CarriedBeforeMarked(Wrong):
    """One queue is broken, so the next commit carries its message on at once, and the marker is left behind.

    An invocation with A commits 1 and dies. The next, there for B, cannot send 1's message, and carries it in commit 2
    although A's marker is not written. 2 is settled, and the tip moves past both. A, redelivered, is taken for new.
    """

    breaks = (Property.SETTLED_BEFORE_NEXT, Property.ONCE)
    shown_by = Scenario(broken_queues=True)

    def may_carry(self, unconfirmed: frozenset[Message | Marker]) -> bool:
        return True


# Committing


class CommitWithoutCondition(Wrong):
    """The number was free when the log was read.

    Two invocations, the second because A's visibility expired, read an empty log. Both write commit 1, and the first
    one's turn is gone from history, though its messages may have left.
    """

    breaks = (Property.ONE_WRITER, Property.ONCE)
    shown_by = Scenario(inputs="A")

    def put_commit(self, store: Store, draft: Commit) -> Store | None:
        return replace(store, log=(*store.log, draft))


class CommitRecognisedByNumber(Wrong):
    """After a failed condition the commit under our number is taken for ours, "the answer must have been lost".

    Two invocations read an empty log. The one with A commits 1. The one with B loses, finds commit 1, settles it as
    its own, and acknowledges B, which nobody has consumed.
    """

    breaks = (Property.ACKNOWLEDGED_AFTER_SETTLED,)

    def takes_for_its_own(self, found: Commit, draft: Commit) -> bool:
        return True


class DispatchBeforeCommit(Wrong):
    """The messages go out while the commit is being written, to save a step.

    An invocation sends its messages and dies. Of what it has promised the world, nothing is known to the log.
    """

    breaks = (Property.COMMITTED_BEFORE_SENT,)
    shown_by = Scenario(inputs="A")

    def sendable_before_commit(self, draft: Commit) -> frozenset[Message]:
        return draft.outbox


WRONG: tuple[type[Wrong], ...] = (
    TipAndMarkersInOneBatchWrite,
    TipBeforeOutbox,
    TipMovesBackWithItsExpiry,
    ExpiryOutsideTheCondition,
    MarkersReadInParallelWithNewest,
    MarkersReadBeforeNewest,
    OutdatedViewAccepted,
    DuplicatesByMarkerOnly,
    DuplicatesByLastCommitOnly,
    NextCommitWithoutSettling,
    DuplicateAcknowledgedWithoutSettling,
    SettledDuplicateDoesNotGoOn,
    CarriedBeforeMarked,
    CommitWithoutCondition,
    CommitRecognisedByNumber,
    DispatchBeforeCommit,
)
