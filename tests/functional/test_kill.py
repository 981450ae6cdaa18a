"""Processes are killed at every point of a slice and of a worker's run; each ends as the run in which nobody died.

On the local stack: real handlers, real event JSON, redelivery by the queues' own rules. faults.md, "Crashes".
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from itertools import count, groupby
from typing import Any

import pytest

from infra.local import LocalTorpor
from infra.local.resources import MAX_RECEIVE_COUNT
from tests.functional.killing import Killer
from tests.functional.local_app import SPEC

START = datetime(2026, 1, 1, tzinfo=UTC)
TURNS = ("two calls", "inline, then more")
INTERRUPTED = ("two calls", "hello")

AGENT_POINTS = {
    "after load": (1,),
    "before commit": (1,),
    "after commit": (1, 2),
    "before dispatch": (1,),
    "in mid-dispatch": (1, 2),
    "after dispatch": (1,),
    "after mark": (1,),
    "before settled": (1,),
    "after settled": (1, 3),
}
"""By point, the times it is reached at which the invocation dies. "after settled" is before the acknowledgement."""
WORKER_POINTS = (
    "before the run",
    "while it is running",
    "after the run",
    "before the answer",
    "after the answer",
)
DERIVED = frozenset({"at", "message_id", "call_id", "output_id", "thread_id", "root_thread_id", "created_at"})
"""Instants, and what is derived from them or from the thread's id."""


@dataclass
class Rig:
    """One stack for all tests, each with a thread of its own."""

    local: LocalTorpor
    killer: Killer
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def run(self, texts: tuple[str, ...] = TURNS, *, together: bool = False) -> "End":
        """`together`: the second message waits in the queue while the first one is handled."""
        thread_id = f"t{next(self.numbers)}"
        for number, text in enumerate(texts):
            message = {"type": "user_message", "thread_id": thread_id, "content": text}
            self.local.send({**message, "message_id": f"m{number}"})
            if not together:
                self.local.drain()
        self.local.drain()
        return self._end(thread_id)

    @cache  # noqa: B019 - lives as long as the module's tests
    def undisturbed(self, texts: tuple[str, ...] = TURNS, *, together: bool = False) -> "End":
        self.killer.aim("nowhere")
        return self.run(texts, together=together)

    def _end(self, thread_id: str) -> "End":
        history = self.local.history(thread_id)
        calls = {
            entry["call_id"]: f"call {entry['seq']}" for entry in history if entry["kind"] == "tool_call"
        }
        outputs = {output["output_id"]: output for output in self.local.outputs(thread_id)}
        entries = [_lasting(entry, calls) for entry in history]
        return End(_results_sorted(entries), [_lasting(output, calls) for output in outputs.values()])

    def __hash__(self) -> int:
        return id(self)


@dataclass(frozen=True)
class End:
    """How a run ended, what is derived aside; results in call order, since workers answer in any order."""

    history: list[dict[str, Any]]
    outputs: list[dict[str, Any]]


def _lasting(value: dict[str, Any], calls: dict[str, str]) -> dict[str, Any]:
    call = {"call": calls[value["call_id"]]} if "call_id" in value else {}
    return {key: item for key, item in value.items() if key not in DERIVED} | call


def _results_sorted(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for is_result, run in groupby(entries, lambda entry: entry["kind"] == "tool_result"):
        without_seq = [{key: item for key, item in entry.items() if key != "seq"} for entry in run]
        found += sorted(without_seq, key=lambda entry: entry["call"]) if is_result else without_seq
    return found


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    killer = Killer()
    with LocalTorpor(app=SPEC, start=START, wrap_ports=killer.wrap) as local:
        yield Rig(local, killer)
        assert local.parked() == []


@pytest.mark.parametrize(
    ("point", "time"), [(point, time) for point, times in AGENT_POINTS.items() for time in times]
)
def test_the_invocation_dies(rig: Rig, point: str, time: int) -> None:
    expected = rig.undisturbed()
    rig.killer.aim(point, time)
    assert rig.run() == expected
    assert rig.killer.kills == 1


@pytest.mark.parametrize("point", WORKER_POINTS)
def test_a_worker_dies(rig: Rig, point: str) -> None:
    expected = rig.undisturbed()
    rig.killer.aim(point)
    assert rig.run() == expected
    assert rig.killer.kills == 1


@pytest.mark.slow
@pytest.mark.parametrize("point", ["before dispatch", "in mid-dispatch", "before settled"])
def test_an_input_uses_up_its_tries_with_a_commit_undispatched_while_the_next_input_waits(
    rig: Rig, point: str
) -> None:
    expected = rig.undisturbed(INTERRUPTED, together=True)
    rig.killer.aim(point, 1, MAX_RECEIVE_COUNT)
    assert rig.run(INTERRUPTED, together=True) == expected
    assert rig.killer.kills == MAX_RECEIVE_COUNT
