"""What an invocation does, step by step: this is the protocol model, and this docstring is the way into it.

**The question.** A thread is a log of commits. A commit is one conditional write, but what follows from it (messages
sent, markers written, tip moved, input acknowledged) is many writes, and an invocation may die between any two of
them, or come back long after another took over. Is everything still done exactly as often as promised?

**The model.** A few *seats*, each idle or holding one invocation in one of four phases:

    Idle ── receive ──▸ Loading ──▸ Settling ──▸ Committing ──▸ Settling ──▸ Acknowledging ──▸ Idle
                           │            └─ duplicate, nothing to do ──────────────▴
                           └─ outdated ──▸ Idle               └─ lost the race ──▸ Idle

`steps` lists every step one invocation may take next: always one request to the outside, followed by whatever it
decides alone. The explorer takes every step of every seat in every order, so every overlap is explored: three slices
at once; a zombie that goes on after its visibility expired and its successors committed; a loser of a race.

**Faults.** A crash is a step from any phase to Idle, all memory lost. Delivery is as bad as it can be: any input may
be received at any time by any seat, in use elsewhere or not, acknowledged or not; that covers redelivery, a producer's
duplicate, one from a dead-letter queue days later, and a group lock that does not hold. A write whose answer is lost
is that write and then a crash. A partly failed batch send is a crash between two sends.

**What is left out, and why that loses nothing.** *Repeats:* sends and markers are idempotent and nobody takes one
back, so a slice that would confirm a fact already there may as well skip it. *Reloading:* an invocation that has read
nothing yet knows no more than an idle seat, to which any input may be delivered, so receiving and the first read are
one step, and "load again" is going back to Idle. *Dead-letter handler, command line:* slices like any other.
*Left out of the question:* entries, models, queues' order, bases, the end of a log, and expiry of markers: they
outlive every message that could ask for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from typing import assert_never

from .facts import Commit, Input, Marker, Message, Store
from .rules import Key, MarkerItem, Newest, Protocol, TipItem, View


@dataclass(frozen=True, slots=True)
class Idle:
    """Nobody here: not started, finished, or dead."""


@dataclass(frozen=True, slots=True)
class Loading:
    """Has received `batch` and read part of the store."""

    batch: frozenset[Input]
    view: View
    unread: frozenset[Key]


@dataclass(frozen=True, slots=True)
class Settling:
    """Brings the commit it saw as newest (its own or another's) to an end, before it goes on with `fresh` input."""

    batch: frozenset[Input]
    commit: Commit
    fresh: frozenset[Input]


@dataclass(frozen=True, slots=True)
class Committing:
    """Has computed the next commit, and is about to write it."""

    batch: frozenset[Input]
    draft: Commit


@dataclass(frozen=True, slots=True)
class Acknowledging:
    """Believes that all it received is consumed and settled."""

    batch: frozenset[Input]


Slice = Idle | Loading | Settling | Committing | Acknowledging


class Action(StrEnum):
    """What a step does, in the words of a trace."""

    READ = "reads"
    SEND = "sends"
    MARK = "writes"
    MOVE_TIP = "moves"
    CARRY = "cannot send, so carries in the next commit,"
    COMMIT = "commits"
    LOSE = "loses the race for"
    ACKNOWLEDGE = "acknowledges"
    CRASH = "crashes"


@dataclass(frozen=True, slots=True)
class Step:
    """One request of one invocation: the store and the invocation after it."""

    action: Action
    what: str
    store: Store
    slice: Slice
    is_fault: bool = False


def steps(rules: Protocol, store: Store, slice: Slice) -> Iterator[Step]:
    """Every step this invocation may take next, the crash included."""
    match slice:
        case Idle():
            yield from _receive(rules, store)
            return
        case Loading():
            yield from _load(rules, store, slice)
        case Settling():
            yield from _settle(rules, store, slice)
        case Committing():
            yield from _commit(rules, store, slice)
        case Acknowledging():
            yield from _acknowledge(store, slice)
        case _:
            assert_never(slice)
    yield Step(Action.CRASH, "", store, Idle(), is_fault=True)


def _receive(rules: Protocol, store: Store) -> Iterator[Step]:
    for batch in rules.scenario.batches():
        unread: frozenset[Key] = frozenset({Newest(), TipItem(), *map(MarkerItem, batch)})
        for step in _load(rules, store, Loading(batch, View(), unread)):
            is_repeat = bool(batch & store.acknowledged)
            yield replace(step, what=f"{step.what} for input {_names(batch)}", is_fault=is_repeat)


def _load(rules: Protocol, store: Store, slice: Loading) -> Iterator[Step]:
    for key in rules.readable(slice.unread):
        view, what = _read(store, slice.view, key)
        unread = slice.unread - {key}
        after = Loading(slice.batch, view, unread) if unread else _decide(rules, slice.batch, view)
        yield Step(Action.READ, what, store, after)


def _read(store: Store, view: View, key: Key) -> tuple[View, str]:
    match key:
        case Newest():
            newest = store.newest
            return replace(view, newest=newest), f"newest commit ({newest.number if newest else 'none'})"
        case TipItem():
            return replace(view, tip=store.tip.number), f"tip ({store.tip.number})"
        case MarkerItem():
            found = {marker for marker in store.markers if marker.input == key.input}
            return replace(
                view, markers=view.markers | found
            ), f"marker of {key.input} ({_names(found) or 'none'})"
        case _:
            assert_never(key)


def _decide(rules: Protocol, batch: frozenset[Input], view: View) -> Slice:
    if rules.is_outdated(view):
        return Idle()
    fresh = frozenset(input for input in batch if not rules.is_duplicate(input, view))
    if view.newest and rules.must_settle(view, fresh):
        return Settling(batch, view.newest, fresh)
    return _after_settled(rules, batch, view, fresh)


def _after_settled(rules: Protocol, batch: frozenset[Input], view: View, fresh: frozenset[Input]) -> Slice:
    if rules.goes_on(view, fresh):
        return Committing(batch, rules.draft(view.number + 1, fresh, carried=frozenset()))
    return Acknowledging(batch)


def _settle(rules: Protocol, store: Store, slice: Settling) -> Iterator[Step]:
    commit, unconfirmed = slice.commit, store.unconfirmed(slice.commit)
    view = View(newest=commit)
    for fact in unconfirmed:
        action = Action.SEND if isinstance(fact, Message) else Action.MARK
        yield Step(action, _name(fact), store.confirm(fact), slice)
    if rules.may_move_tip(unconfirmed):
        after = slice if unconfirmed else _after_settled(rules, slice.batch, view, slice.fresh)
        yield Step(Action.MOVE_TIP, f"tip to {commit.number}", rules.move_tip(store, commit.number), after)
    if rules.scenario.broken_queues and rules.may_carry(unconfirmed) and rules.goes_on(view, slice.fresh):
        for unsent in _unsendable(commit.outbox, unconfirmed):
            draft = rules.draft(commit.number + 1, slice.fresh, carried=unsent)
            yield Step(Action.CARRY, _names(unsent), store, Committing(slice.batch, draft), is_fault=True)


def _unsendable(
    outbox: frozenset[Message], unconfirmed: frozenset[Message | Marker]
) -> Iterator[frozenset[Message]]:
    """Every set of messages whose sending may have failed: at least what is not sent; more, if answers were lost."""
    surely = frozenset(fact for fact in unconfirmed if isinstance(fact, Message))
    perhaps = outbox - surely
    for size in range(len(perhaps) + 1):
        for more in combinations(sorted(perhaps), size):
            if unsent := surely.union(more):
                yield unsent


def _commit(rules: Protocol, store: Store, slice: Committing) -> Iterator[Step]:
    draft, number = slice.draft, slice.draft.number
    for message in rules.sendable_before_commit(draft) - store.sent:
        yield Step(Action.SEND, _name(message), store.confirm(message), slice)
    after = rules.put_commit(store, draft)
    if after is not None:
        what = f"{number}, consuming {_names(draft.consumed) or 'nothing'}"
        yield Step(Action.COMMIT, what, after, Settling(slice.batch, draft, fresh=frozenset()))
        return
    found = next(commit for commit in store.log if commit.number == number)
    mistaken = rules.takes_for_its_own(found, draft)
    then = Settling(slice.batch, found, fresh=frozenset()) if mistaken else Idle()
    yield Step(Action.LOSE, f"commit {number}", store, then)


def _acknowledge(store: Store, slice: Acknowledging) -> Iterator[Step]:
    for input in slice.batch:
        rest = slice.batch - {input}
        after = Acknowledging(rest) if rest else Idle()
        yield Step(Action.ACKNOWLEDGE, f"input {input}", store.acknowledge(input), after)


def _name(item: Input | Message | Marker) -> str:
    match item:
        case Message():
            return f"message {item.commit}.{item.position}"
        case Marker():
            return f"marker {item.input}→{item.commit}"
        case str():
            return item


def _names(items: frozenset[Input] | frozenset[Message] | set[Marker]) -> str:
    return ", ".join(sorted(map(_name, items)))
