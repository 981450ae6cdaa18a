"""Sabotages of the end of a log: what may end, what is left of it, and what comes behind it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import core.erasing as erasing
from core.commit import Commit
from core.keeping import Cleared
from core.thread import ThreadState
from infra.memory import MemoryStore
from infra.memory.thread import Thread

from . import Patch, Sabotage

WORKING, SPEAKING = "erased_while_a_worker_runs_and_used_again", "erased_as_somebody_speaks"
EXPIRED, EXPIRING = "expired_and_used_again", "spoken_to_as_it_expires"


def ends_with_the_state_it_had() -> Sequence[Patch]:
    def kept(self: Commit) -> ThreadState | None:
        whole = self.base or self.checkpoint
        return whole.snapshot if whole else None

    return [(Commit, "snapshot", property(kept))]


def ends_unsettled() -> Sequence[Patch]:
    def never(last: Commit, state: ThreadState, tip: int, now: datetime) -> None:
        return None

    return [(erasing, "_held", never)]


def ends_though_somebody_came() -> Sequence[Patch]:
    async def never(*_: Any) -> None:
        return None

    return [(erasing, "_alive", never)]


def markers_go_too() -> Sequence[Patch]:
    clear = Thread.clear

    def cleared(self: Thread, ending: Commit) -> Cleared:
        self.markers.clear()
        return clear(self, ending)

    return [(Thread, "clear", cleared)]


def numbers_are_free_at_once() -> Sequence[Patch]:
    clear = Thread.clear

    def cleared(self: Thread, ending: Commit) -> Cleared:
        done = clear(self, ending)
        self.stubs.clear()
        return done

    return [(Thread, "clear", cleared)]


def nothing_is_cleared() -> Sequence[Patch]:
    async def clear(self: MemoryStore, ending: Commit) -> Cleared:
        return Cleared()

    return [(MemoryStore, "clear", clear)]


def metadata_outlives_its_log() -> Sequence[Patch]:
    def kept(self: Thread, number: int) -> None:
        self.metadata_number = max(self.metadata_number, number)

    return [(Thread, "empty_metadata", kept)]


def what_was_begun_is_not_finished() -> Sequence[Patch]:
    async def nothing(*_: Any) -> None:
        return None

    return [(erasing, "_unfinished", nothing)]


def another_end_is_written_over() -> Sequence[Patch]:
    write = Thread.write

    def written(self: Thread, commit: Commit, now: datetime) -> None:
        if commit.erased is not None:
            self.log.pop(commit.number, None)
        write(self, commit, now + timedelta())

    return [(Thread, "write", written)]


SABOTAGES = [
    Sabotage("the end of a log does not say that nothing stands", ends_with_the_state_it_had, [WORKING]),
    Sabotage("a log ends before it is settled", ends_unsettled, [WORKING, SPEAKING]),
    Sabotage("a log expires though somebody came", ends_though_somebody_came, [EXPIRING]),
    Sabotage("markers go with the log", markers_go_too, [WORKING, SPEAKING]),
    Sabotage(
        "numbers of an erased log are free at once",
        numbers_are_free_at_once,
        [SPEAKING, WORKING],
        faults=("stall",),
        seeds=40,
    ),
    Sabotage("nothing of an erased log is deleted", nothing_is_cleared, [WORKING]),
    Sabotage("metadata outlives its log", metadata_outlives_its_log, [WORKING]),
    Sabotage(
        "an end that was begun is not finished",
        what_was_begun_is_not_finished,
        [EXPIRED, EXPIRING, WORKING],
        seeds=20,
    ),
    Sabotage(
        "an end is written over another commit",
        another_end_is_written_over,
        [SPEAKING],
        faults=("crash", "stall"),
    ),
]
