"""Sabotages of settling: what is sent when, and what moves the tip."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import core.slice.run as run
import core.slice.settle as settle
from core.commit import Commit
from core.delivery import outgoing
from core.history.manager import HistoryManager
from core.ports import Outgoing
from core.slice.ports import SlicePorts
from core.slice.run import _Slice
from core.slice.settle import Leftover

from . import Patch, Sabotage


def dispatch_before_commit() -> Sequence[Patch]:
    commit = _Slice._commit

    async def sent_first(self: _Slice) -> None:
        draft = self._manager.draft
        if not draft.is_empty:
            early = draft.build(self._ports.clock.now())
            await self._ports.dispatcher.send(
                outgoing(early, self._manager.thread_stack, self._manager.metadata)
            )
        await commit(self)

    return [(_Slice, "_commit", sent_first)]


def _skipped(self: _Slice) -> None:
    unsettled = self._manager.unsettled
    if unsettled is not None:
        self._manager.note_settled(unsettled)


def next_without_settling() -> Sequence[Patch]:
    do_settle = _Slice._settle

    async def only_own(self: _Slice, phase: Any) -> None:
        if self._commits:
            await do_settle(self, phase)
        else:
            _skipped(self)

    return [(_Slice, "_settle", only_own)]


def duplicate_acknowledged_unsettled() -> Sequence[Patch]:
    do_settle = _Slice._settle

    async def unless_duplicates(self: _Slice, phase: Any) -> None:
        if not self._commits and all(self._manager.seen(taken.key) for taken in self._inputs):
            _skipped(self)
        else:
            await do_settle(self, phase)

    return [(_Slice, "_settle", unless_duplicates)]


def _settling(*, tip_before_outbox: bool) -> Any:
    async def in_a_wrong_order(manager: HistoryManager, ports: SlicePorts, *_: Any) -> Leftover:
        commit = manager.unsettled
        if commit is None:
            return Leftover()
        messages = outgoing(commit, manager.thread_stack, manager.metadata)
        if not tip_before_outbox:
            await ports.dispatcher.send(messages)
        else:
            await ports.store.mark(commit)
        await ports.store.settled(commit, waiting=False)
        if tip_before_outbox:
            await ports.dispatcher.send(messages)
        else:
            await ports.store.mark(commit)
        manager.note_settled(commit)
        return Leftover()

    return in_a_wrong_order


def tip_before_markers() -> Sequence[Patch]:
    return [(run, "settle", _settling(tip_before_outbox=False))]


def tip_before_outbox() -> Sequence[Patch]:
    return [(run, "settle", _settling(tip_before_outbox=True))]


def due_instants_restarted() -> Sequence[Patch]:
    now: list[datetime] = []
    do_settle = settle.settle

    async def at_some_time(manager: HistoryManager, ports: SlicePorts, *about: Any) -> Leftover:
        now[:] = [ports.clock.now()]
        return await do_settle(manager, ports, *about)

    def restarted(commit: Commit, *surroundings: Any) -> tuple[Outgoing, ...]:
        return tuple(
            replace(message, due_at=now[0] + (message.due_at - commit.at)) if message.due_at else message
            for message in outgoing(commit, *surroundings)
        )

    return [(settle, "outgoing", restarted), (run, "settle", at_some_time)]


SABOTAGES = (
    Sabotage("dispatch before commit", dispatch_before_commit, ["text"]),
    Sabotage("next commit without settling the last", next_without_settling, ["two_texts"]),
    Sabotage("tip moved before all markers are there", tip_before_markers, ["text"]),
    Sabotage("tip moved before the outbox is sent", tip_before_outbox, ["text"]),
    Sabotage("duplicate acknowledged without settling", duplicate_acknowledged_unsettled, ["text"]),
    Sabotage("due instants restarted on a second send", due_instants_restarted, ["nobody_answers"]),
)
