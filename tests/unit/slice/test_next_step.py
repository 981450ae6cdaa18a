"""What next: the pure decision between rounds."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.settings import Limits
from core.slice.next_step import Complete, LeaveWake, Rest, Situation, Step, next_step
from core.thread import LiveCall, PendingWake, ThreadState

NOW = datetime(2025, 1, 1, tzinfo=UTC)
LIMITS = Limits(rounds_per_slice=5)
OWING = ThreadState(owes=True, owes_to="m1")
HERE = Situation(now=NOW, seconds_left=60, rounds=0, fresh_input=False)
RETRY = PendingWake(id="w", reason="model", due_at=NOW + timedelta(seconds=10), tries=3)


def _with(**values: object) -> ThreadState:
    return OWING.model_copy(update=values)


CASES: dict[str, tuple[ThreadState, Situation, type[Step]]] = {
    "owes": (OWING, HERE, Complete),
    "owes nothing": (ThreadState(), HERE, Rest),
    "a call is live": (_with(live=(LiveCall(call_id="c", seq=1, name="n"),)), HERE, Rest),
    "a passive call is live": (
        _with(live=(LiveCall(call_id="c", seq=1, name="n", passive=True),)),
        HERE,
        Rest,
    ),
    "closed": (_with(closed=True), HERE, Rest),
    "a retry is pending": (_with(wake=RETRY), HERE, Rest),
    "a retry is due": (_with(wake=RETRY), replace(HERE, now=NOW + timedelta(seconds=10)), Complete),
    "a retry is pending, new input": (_with(wake=RETRY), replace(HERE, fresh_input=True), Complete),
    "a resend is pending": (_with(wake=RETRY.model_copy(update={"reason": "resend"})), HERE, Complete),
    "the last round": (OWING, replace(HERE, rounds=4), Complete),
    "no round left": (OWING, replace(HERE, rounds=5), LeaveWake),
    "no round left, a resend pending that may be long in coming": (
        _with(wake=RETRY.model_copy(update={"reason": "resend"})),
        replace(HERE, rounds=5),
        LeaveWake,
    ),
    "no round left, a wake pending": (
        _with(wake=PendingWake(id="", reason="continue")),
        replace(HERE, rounds=5),
        Rest,
    ),
    "no time left": (OWING, replace(HERE, seconds_left=9.9), LeaveWake),
    "just enough time": (OWING, replace(HERE, seconds_left=10), Complete),
    "a dead letter": (OWING, replace(HERE, completing=False), LeaveWake),
    "a dead letter, a wake pending": (_with(wake=RETRY), replace(HERE, completing=False), Rest),
    "a dead letter, nothing owed": (ThreadState(), replace(HERE, completing=False), Rest),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_next(case: str) -> None:
    state, situation, expected = CASES[case]
    assert isinstance(next_step(state, LIMITS, situation), expected)
