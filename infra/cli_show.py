"""`torpor show`: what a thread is, what it waits for, and its last turns; with `--follow` also those to come."""

import argparse
import sys
from dataclasses import dataclass, field

from core.clock import SYSTEM_CLOCK, Clock
from core.commit import Commit
from core.errors import MisuseError, NoThread
from infra.cli_stack import DONE, run, stack_of
from infra.log_reader import LogPage, LogReader
from infra.operations import view_state
from infra.operations.branches import branches
from infra.operations.reading import coming, last_turns, turns_after
from infra.operations.shown import counted
from infra.operations.view_turns import TurnView
from infra.stack import store_of

MOST_FOLDED = 200
"""Commits that no summary covers, up to which a thread's state is read unasked, as its slices read it."""


def show_thread(options: argparse.Namespace, clock: Clock = SYSTEM_CLOCK) -> int:
    """Returns the exit code."""

    async def work() -> int:
        async with store_of(stack_of(options), clock) as store:
            await Showing(store, clock, options).show()
        return DONE

    return run(work)


@dataclass
class Showing:
    """One thread on its way to the terminal."""

    reader: LogReader
    clock: Clock
    options: argparse.Namespace
    view: TurnView = field(default_factory=TurnView)
    short: bool = True
    """Whether its state may be read."""

    async def show(self) -> None:
        """Raises MisuseError for a thread that is not there."""
        thread_id, newest = self.options.thread, await self.reader.newest(self.options.thread)
        if newest is None:
            raise NoThread(thread_id)
        if newest.erased is not None:
            raise MisuseError(f"thread {thread_id!r} was erased on {newest.at:%Y-%m-%d}")
        self.short = self.options.full or newest.number - newest.from_number < MOST_FOLDED
        closed = await self._state(newest)
        part = await self._part()
        for commit in part.commits:
            self._draw(commit)
        if part.more:
            print(f"for more: --after {part.commits[-1].last_seq}", file=sys.stderr)
        elif self.options.follow:
            last = part.commits[-1].number if part.commits else newest.number
            await self._follow(last + 1, closed)

    async def _state(self, newest: Commit) -> bool:
        """What it is and waits for; returns whether it is closed."""
        thread_id, now = self.options.thread, self.clock.now()
        if not self.short:
            print(f"{thread_id} · {counted(newest.last_seq, 'entry')} in {counted(newest.number, 'commit')}")
            print(f"  what it waits for takes reading {newest.number - newest.from_number} commits: --full")
            return False
        if self.options.tree:
            async for drawn in branches(self.reader, thread_id, now):
                print(drawn)
        loaded = await self.reader.load(thread_id)
        if not self.options.tree:
            print(view_state.head(thread_id, loaded))
            for wait in view_state.waits(thread_id, loaded, now):
                print(f"  {wait}")
        return loaded.folded.state.closed

    async def _part(self) -> LogPage:
        thread_id, turns = self.options.thread, self.options.limit
        if self.options.after is None:
            return await last_turns(self.reader, thread_id, turns)
        return await turns_after(self.reader, thread_id, self.options.after, turns)

    async def _follow(self, number: int, closed: bool) -> None:
        thread_id = self.options.thread
        async for commits in coming(self.reader, self.clock, thread_id, number, closed=closed):
            for commit in commits:
                self._draw(commit)
            if not self.short:
                continue
            loaded = await self.reader.load(thread_id)
            for wait in view_state.waits(thread_id, loaded, self.clock.now()):
                print(f"  {wait}", flush=True)

    def _draw(self, commit: Commit) -> None:
        for drawn in self.view.draw(commit):
            print(drawn, flush=self.options.follow)
