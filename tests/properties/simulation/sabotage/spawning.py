"""Sabotages of how a child begins: its id, what it inherits, the credit it is given, that it begins once."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import core.accept.spawn as accept_spawn
import core.accept.thread_report as thread_report
import core.fork as fork
import core.slice.builtin.spawn as builtin_spawn
import core.slice.children as children
import core.slice.ending as ending
import core.spawning as spawning
from core.changes import ChildOpened
from core.delivery import outgoing
from core.history.draft import ThreadDraft
from core.history.manager import HistoryManager
from core.outbox import SendReport, SendSpawn, SendSpawned
from core.slice.run import _Slice
from core.thread import Child, ThreadState

from . import Patch, Sabotage


def random_child_ids() -> Sequence[Patch]:
    numbers: Iterator[int] = count(1)
    return [(builtin_spawn, "child_thread_id", lambda root, cause: f"{root}~{next(numbers)}")]


def event_children_by_call() -> Sequence[Patch]:
    return [(children, "event_cause", lambda thread_id, birth, key: thread_id)]


def spawn_before_commit() -> Sequence[Patch]:
    commit = _Slice._commit

    async def sent_first(self: _Slice) -> None:
        draft = self._manager.draft
        if any(isinstance(message, SendSpawn) for message in draft._outbox):
            early = draft.build(self._ports.clock.now())
            messages = outgoing(early, self._manager.thread_stack, self._manager.metadata)
            await self._ports.dispatcher.send([one for one in messages if '"type":"spawn"' in one.body])
        await commit(self)

    return [(_Slice, "_commit", sent_first)]


def begins_again() -> Sequence[Patch]:
    accept = accept_spawn.accept

    def always(message: Any, state: ThreadState, setting: Any) -> Any:
        return accept(message, ThreadState(), setting)

    return [(accept_spawn, "accept", always)]


def spawn_unopened() -> Sequence[Patch]:
    record = ThreadDraft.record

    def forgetful(self: ThreadDraft, change: Any) -> None:
        if not isinstance(change, ChildOpened):
            record(self, change)

    return [(ThreadDraft, "record", forgetful)]


def inherits_the_spawning_turn() -> Sequence[Patch]:
    return [(spawning, "safe_cut", lambda entries: entries[-1].seq)]


def fork_shares_a_live_call() -> Sequence[Patch]:
    return [(fork, "safe_cut", lambda entries: entries[-1].seq)]


def inherits_nothing_at_first() -> Sequence[Patch]:
    async def nothing(self: HistoryManager) -> None:
        """What is inherited is read from the second slice on."""

    return [(HistoryManager, "inherit", nothing)]


def credit_given_twice() -> Sequence[Patch]:
    def generous(draft: ThreadDraft, spawn: SendSpawn, child: Child) -> None:
        draft.record(ChildOpened(child=child))
        draft.send(spawn)
        draft.send(SendSpawned(child_thread_id=spawn.thread_id, call_id=spawn.call_id))

    return [(builtin_spawn, "open_child", generous)]


def end_without_credit() -> Sequence[Patch]:
    return [(ending, "SendReport", lambda **said: SendReport(**{**said, "credit": 0}))]


def all_credit_back() -> Sequence[Patch]:
    def all_of_it(message: Any, child: Child, state: ThreadState, setting: Any) -> int:
        return (state.credit or 0) + child.credit

    return [(thread_report, "_credit_back", all_of_it)]


SABOTAGES = (
    Sabotage("a child's id that is not derived from its call", random_child_ids, ["silent_child"]),
    Sabotage(
        "one child for all events of a thread", event_children_by_call, ["two_events_with_a_child_each"]
    ),
    Sabotage("a spawn sent before its commit", spawn_before_commit, ["silent_child"]),
    Sabotage("a spawn that begins its child again", begins_again, ["silent_child"]),
    Sabotage("a child that its parent does not know of", spawn_unopened, ["silent_child"]),
    Sabotage("a child that inherits its spawning turn", inherits_the_spawning_turn, ["silent_child"]),
    Sabotage("a fork that shares a live call", fork_shares_a_live_call, ["fork_during_a_slice"]),
    Sabotage("a first slice without what is inherited", inherits_nothing_at_first, ["silent_child"]),
    Sabotage("credit that parent and child both keep", credit_given_twice, ["silent_child"]),
    Sabotage("an end that gives no credit back", end_without_credit, ["silent_child"]),
    Sabotage("an end that gives spent credit back", all_credit_back, ["silent_child"]),
)
