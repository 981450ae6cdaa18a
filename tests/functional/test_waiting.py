"""A thread that sleeps, is woken by an event, asks for an approval, compacts while the call is live, lets a person
choose, sleeps for a week and answers. Processes die at every step; the end is that of the undisturbed run.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from infra.local import LocalTorpor
from tests.functional.killing import Killer
from tests.functional.waiting_app import SPEC

START = datetime(2026, 1, 2, tzinfo=UTC)
ALWAYS = 10_000
HOUR_SECONDS, WEEK_SECONDS = 3_600, 7 * 86_400
LEFT_OUT = (
    "message_id",
    "output_id",
    "at",
    "created_at",
    "expires_at",
    "thread_id",
    "root_thread_id",
    "citations",
)

End = tuple[list[dict[str, Any]], list[dict[str, Any]]]


class Waiting:
    """One thread, led through all that it waits for."""

    def __init__(self, local: LocalTorpor, thread_id: str) -> None:
        self._local = local
        self._thread_id = thread_id

    def live_through(self) -> None:
        self._send("user_message", content="watch")
        self._local.advance(seconds=HOUR_SECONDS)
        watch = next(entry["call_id"] for entry in self._history if entry["kind"] == "tool_call")
        self._send("subscription_event", call_id=watch, content="a bill", associative=True)
        self._send("answer", call_id=self._asked("approval"), approved=True)
        self._send("answer", call_id=self._asked("choice"), choice="green", comment="like grass")
        self._local.advance(seconds=WEEK_SECONDS)

    def end(self) -> End:
        """History and outputs, calls by their place in history, instants and derived ids left out."""
        calls = {entry["call_id"]: entry["seq"] for entry in self._history if entry["kind"] == "tool_call"}
        outputs = {output["output_id"]: output for output in self._local.outputs(self._thread_id)}
        return _lasting(self._history, calls), _lasting(list(outputs.values()), calls)

    @property
    def _history(self) -> list[dict[str, Any]]:
        return self._local.history(self._thread_id)

    def _asked(self, kind: str) -> str:
        questions = [one for one in self._local.outputs(self._thread_id) if one["type"] == "question"]
        return next(str(one["call_id"]) for one in questions if one["kind"] == kind)

    def _send(self, kind: str, **fields: Any) -> None:
        message_id = f"{kind}-{len(self._history)}"
        self._local.send({"type": kind, "thread_id": self._thread_id, "message_id": message_id, **fields})
        self._local.drain()


def _lasting(values: list[dict[str, Any]], calls: dict[str, int]) -> list[dict[str, Any]]:
    return [
        {key: calls[item] if key == "call_id" else item for key, item in value.items() if key not in LEFT_OUT}
        for value in values
    ]


@pytest.fixture(scope="module")
def killer() -> Killer:
    return Killer()


@pytest.fixture(scope="module")
def local(killer: Killer) -> Iterator[LocalTorpor]:
    with LocalTorpor(app=SPEC, start=START, wrap_ports=killer.wrap) as stack:
        yield stack
        assert stack.parked() == []


@pytest.fixture(scope="module")
def undisturbed(local: LocalTorpor) -> End:
    one = Waiting(local, "undisturbed")
    one.live_through()
    return one.end()


def test_it_lives_through_all_of_it(undisturbed: End) -> None:
    history, outputs = undisturbed
    said = [entry["text"] for entry in history if entry["kind"] == "assistant"]
    assert said == [
        "Waiting for news.",
        "A bill came.",
        "Stamp it.",
        "Now a week off.",
        "A week has passed: The time has come.",
    ]
    told = [output["type"] for output in outputs]
    assert told.count("question") == told.count("question_closed") == 2
    (compacted,) = [output for output in outputs if output["type"] == "compacted"]
    assert compacted["up_to_seq"] == next(
        entry["seq"] for entry in history if entry.get("text") == "A bill came."
    )
    assert outputs[-1]["final"]
    assert outputs[-1]["text"] == said[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "aim",
    [("after commit", 1, ALWAYS), ("after asking",), ("after an answer is taken",), ("before the answer", 3)],
    ids=lambda aim: aim[0],
)
def test_killed_at_every_step_it_comes_to_the_same_end(
    aim: Any, local: LocalTorpor, killer: Killer, undisturbed: End
) -> None:
    one = Waiting(local, aim[0].replace(" ", "-"))
    killer.aim(*aim)
    one.live_through()
    assert killer.kills == (killer.reached[aim[0]] if ALWAYS in aim else 1)
    killer.aim("nowhere")
    assert one.end() == undisturbed
