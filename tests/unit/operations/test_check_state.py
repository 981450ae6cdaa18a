"""What a thread waits for and where its tip stands, held against the rules, as values."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.thread import Child, LiveCall, PendingTimer, PendingWake, Question, ThreadState
from infra.operations.check_rows import tip_findings
from infra.operations.check_waits import LONG, waiting_findings

NOW = datetime(2025, 1, 1, tzinfo=UTC)
SOON, LATELY = NOW + timedelta(minutes=1), NOW - LONG - timedelta(seconds=1)


def call(**fields: Any) -> LiveCall:
    return LiveCall(**{"call_id": "c", "seq": 1, "name": "fetch", "worker": "web", **fields})


def found(state: ThreadState, *, settled: bool = True) -> list[tuple[str, bool]]:
    return [(one.where, one.note) for one in waiting_findings(state, settled=settled, now=NOW)]


TIMER = PendingTimer(id="t", due_at=SOON)
HEALTHY = [
    ThreadState(),
    ThreadState(live=(call(deadline_at=SOON),), timer=TIMER),
    ThreadState(live=(call(worker=None, passive=True),)),
    ThreadState(live=(call(worker=None),)),
    ThreadState(live=(call(question=Question(kind="approval", expires_at=SOON)),), timer=TIMER),
    ThreadState(owes=True, wake=PendingWake(id="w", reason="model", due_at=SOON)),
    ThreadState(closed=True),
]


@pytest.mark.parametrize("state", HEALTHY, ids=range(len(HEALTHY)))
def test_a_wait_with_an_end_is_right(state: ThreadState) -> None:
    assert found(state) == []


@pytest.mark.parametrize(
    ("state", "where", "note"),
    [
        (ThreadState(live=(call(),)), "call c", False),
        (ThreadState(live=(call(deadline_at=SOON),)), "timer", False),
        (ThreadState(children=(Child(thread_id="t~1", call_id="c", deadline_at=SOON),)), "timer", False),
        (ThreadState(live=(call(deadline_at=NOW),), timer=TIMER), "timer", False),
        (ThreadState(timer=PendingTimer(id="t", due_at=LATELY)), "timer", True),
        (ThreadState(owes=True, wake=PendingWake(id="w", reason="model", due_at=LATELY)), "wake", True),
        (ThreadState(owes=True), "state", True),
        (ThreadState(closed=True, owes=True), "state", False),
    ],
    ids=range(8),
)
def test_a_wait_without_an_end_is_found(state: ThreadState, where: str, note: bool) -> None:
    assert found(state) == [(where, note)]


def test_what_is_not_sent_yet_cannot_be_late() -> None:
    assert found(ThreadState(timer=PendingTimer(id="t", due_at=LATELY)), settled=False) == []


@pytest.mark.parametrize(
    ("tip", "last", "before", "excused", "notes"),
    [
        (5, 5, 5, set(), []),
        (6, 5, 5, set(), []),
        (4, 5, 4, set(), [True]),
        (3, 5, 3, {5}, [True]),
        (3, 5, 3, {4}, [False]),
        (1, 5, 1, {3, 4, 5}, [True]),
        (9, 5, 9, set(), [False]),
    ],
)
def test_the_tip_is_at_the_end_or_one_behind_or_what_follows_carries(
    tip: int, last: int, before: int, excused: set[int], notes: list[bool]
) -> None:
    found = tip_findings(tip, last, before, excused, expired=False)
    assert [finding.note for finding in found] == notes


def test_a_tip_that_is_gone_with_its_time_is_no_fault() -> None:
    assert [one.note for one in tip_findings(0, 5, 0, set(), expired=True)] == [True]
    assert [one.note for one in tip_findings(0, 5, 0, set(), expired=False)] == [False]
