"""What must hold: after every single step, and of every future.

Each property is an invariant of architecture.md or a sentence of storage.md, said of durable facts alone, and blind to
how they came about. `Property.holds` is asked once for every pair of stores that a step leads from and to.

*Never stuck* speaks of the future: when every invocation has died and faults have stopped, whatever is not
acknowledged is delivered, one invocation at a time, and *every* such run must end with all inputs consumed, settled
and acknowledged, and the thread not runnable. One run would do for the design; all of them is easier to say.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from .facts import Commit, Store
from .rules import Protocol
from .slices import Idle, Slice, steps

Check = Callable[[Store, Store], bool]


class Property(StrEnum):
    """The names under which violations are reported."""

    ONCE = "once: no input is consumed by two commits"
    ONE_WRITER = "append-only, one writer: commits are numbered 1, 2, 3 … and each number is written once"
    SETTLED_BEFORE_NEXT = "settle before next: no commit n+1 before n is sent (or carried on) and marked"
    COMMITTED_BEFORE_SENT = "settle before next: nothing leaves before the commit that contains it"
    ACKNOWLEDGED_AFTER_SETTLED = (
        "once: an acknowledged input was consumed by a commit that is sent and marked"
    )
    TIP_IS_TRUE = "the tip is never at or past a commit with an unsent message or a missing marker"
    TIP_ONLY_ADVANCES = "neither the tip nor the expiry beside it ever goes back"
    NEVER_STUCK = "never stuck: once faults stop, every run consumes, settles and acknowledges all there is"


def checks(rules: Protocol) -> dict[Property, Check]:
    """Every property as a check of one step, from the store before it to the store after."""
    recovery = Recovery(rules)
    return {
        Property.ONCE: lambda _, after: _once(after),
        Property.ONE_WRITER: lambda _, after: (
            [c.number for c in after.log] == list(range(1, len(after.log) + 1))
        ),
        Property.SETTLED_BEFORE_NEXT: lambda _, after: all(
            _is_done(after, commit) for commit in after.log[:-1]
        ),
        Property.COMMITTED_BEFORE_SENT: lambda _, after: _committed_before_sent(after),
        Property.ACKNOWLEDGED_AFTER_SETTLED: lambda _, after: _acknowledged_after_settled(after),
        Property.TIP_IS_TRUE: lambda _, after: not any(map(after.unconfirmed, after.log[: after.tip.number])),
        Property.TIP_ONLY_ADVANCES: _tip_only_advances,
        Property.NEVER_STUCK: lambda _, after: recovery.succeeds(after, Idle()),
    }


def _once(store: Store) -> bool:
    consumed = [input for commit in store.log for input in commit.consumed]
    return len(consumed) == len(set(consumed))


def _is_done(store: Store, commit: Commit) -> bool:
    """All of it confirmed, apart from messages that the commit after it promises anew."""
    carried = {
        message for later in store.log if later.number == commit.number + 1 for message in later.outbox
    }
    return store.unconfirmed(commit) <= carried


def _committed_before_sent(store: Store) -> bool:
    promised = {message for commit in store.log for message in commit.outbox}
    owned = {marker for commit in store.log for marker in commit.markers}
    return store.sent <= promised and store.markers <= owned and store.tip.number <= len(store.log)


def _acknowledged_after_settled(store: Store) -> bool:
    safe = {input for commit in store.log if not store.unconfirmed(commit) for input in commit.consumed}
    return store.acknowledged <= safe


def _tip_only_advances(before: Store, after: Store) -> bool:
    return before.tip.number <= after.tip.number and before.tip.expiry_from <= after.tip.expiry_from


class Recovery:
    """Whether all fault-free, one-at-a-time runs from a store end well. Remembers, as most runs meet early."""

    def __init__(self, rules: Protocol) -> None:
        self._rules = rules
        self._known: dict[tuple[Store, Slice], bool] = {}

    def succeeds(self, store: Store, slice: Slice) -> bool:
        """True if every run ends, and ends well. A run that comes back to where it was never ends."""
        here = (store, slice)
        if here not in self._known:
            self._known[here] = False
            onward = [step for step in steps(self._rules, store, slice) if not step.is_fault]
            if onward:
                self._known[here] = all(self.succeeds(step.store, step.slice) for step in onward)
            else:
                self._known[here] = self._is_end(store)
        return self._known[here]

    def _is_end(self, store: Store) -> bool:
        everything = frozenset(self._rules.scenario.inputs)
        newest = store.newest
        return (
            newest is not None
            and not self._rules.leaves_runnable(newest)
            and store.tip.number == newest.number
            and not any(map(store.unconfirmed, store.log))
            and _once(store)
            and everything
            == store.acknowledged
            == frozenset().union(*(commit.consumed for commit in store.log))
        )
