"""A parent with three children, a grandchild and events meanwhile, on the local stack. The process dies at every step,
and another goes on; the end is that of the undisturbed run.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from infra.local import LocalTorpor
from tests.functional.killing import Killer
from tests.functional.team_app import SPEC

START = datetime(2026, 1, 1, tzinfo=UTC)
ALWAYS = 10_000
HEARD = '{"kind": "assistant", "text": "Heard: '
IDS = ("message_id", "output_id", "at", "created_at", "seq", "usage", "root_thread_id")
"""Left out of what is compared, with what depends on the order in which threads of a tree come to their turn."""


@dataclass
class Team:
    """One tree of threads."""

    local: LocalTorpor
    root: str

    def work(self) -> None:
        """The root watches, spawns its children, and hears of two things while they work."""
        self.say("watch")
        self.local.drain()
        call_id = self.local.history(self.root)[1]["call_id"]
        self.say("go")
        self.event(call_id, "a storm")
        self.event(call_id, "high water", associative=True)
        self.local.drain()

    def say(self, text: str) -> None:
        self.local.send({**self._message("user_message", text), "content": text})

    def event(self, call_id: str, content: str, **fields: Any) -> None:
        event = {"call_id": call_id, "content": content, "event_id": content, **fields}
        self.local.send({**self._message("subscription_event", content), **event})

    def end(self) -> dict[str, list[str]]:
        """Each thread's history, and the outputs of all; ids by what they belong to. The root's, and the outputs, in
        no order: whose report comes first is nobody's promise.
        """
        histories = {thread_id: self.local.history(thread_id) for thread_id in [self.root, *self.children()]}
        names = self._names(histories)
        end = {names[thread_id]: _lines(history, names) for thread_id, history in histories.items()}
        end["root"].sort()
        outputs = {one["output_id"]: one for one in self._outputs()}
        end["outputs"] = sorted(_lines(list(outputs.values()), names))
        return end

    def children(self) -> list[str]:
        spawned = [one["child_thread_id"] for one in self._outputs() if one["type"] == "thread_spawned"]
        return list(dict.fromkeys(spawned))

    def _outputs(self) -> list[dict[str, Any]]:
        return [one for one in self.local.outputs() if one["root_thread_id"] == self.root]

    def _names(self, histories: dict[str, list[dict[str, Any]]]) -> dict[str, str]:
        names = {self.root: "root"}
        for thread_id, history in histories.items():
            calls = [entry for entry in history if entry["kind"] == "tool_call"]
            if thread_id != self.root:
                names[thread_id] = "child to " + calls[0]["args"]["instructions"]
            named = names[thread_id]
            names |= {
                call["call_id"]: f"{named}, call {call['seq']}"
                for call in calls
                if call["call_id"] not in names
            }
        return names

    def _message(self, kind: str, message_id: str) -> dict[str, str]:
        return {"type": kind, "thread_id": self.root, "message_id": message_id}


def _lines(values: list[dict[str, Any]], names: dict[str, str]) -> list[str]:
    return [_line({key: item for key, item in value.items() if key not in IDS}, names) for value in values]


def _line(value: dict[str, Any], names: dict[str, str]) -> str:
    text = json.dumps(value, sort_keys=True)
    for known in sorted(names, key=len, reverse=True):
        text = text.replace(known, names[known])
    return text


@pytest.fixture(scope="module")
def killer() -> Killer:
    return Killer()


@pytest.fixture(scope="module")
def local(killer: Killer) -> Iterator[LocalTorpor]:
    with LocalTorpor(app=SPEC, start=START, wrap_ports=killer.wrap) as local:
        yield local
        assert local.parked() == []


@pytest.fixture(scope="module")
def undisturbed(local: LocalTorpor) -> dict[str, list[str]]:
    team = Team(local, "team-1")
    team.work()
    return team.end()


def test_a_team_comes_to_an_end(undisturbed: dict[str, list[str]]) -> None:
    assert len(undisturbed) == 7
    heard = [line for line in undisturbed["root"] if line.startswith(HEARD)]
    assert len(heard) == 6
    for said in ("tide is a word", "I begin.", "Told.", "depth is a word", "A storm comes.", "high water"):
        assert [line for line in heard if said in line], said


@pytest.mark.slow
def test_restarted_in_a_new_process_at_every_step_it_comes_to_the_same_end(
    local: LocalTorpor, killer: Killer, undisturbed: dict[str, list[str]]
) -> None:
    team = Team(local, "team-2")
    killer.aim("after commit", 1, ALWAYS)
    team.work()
    assert killer.kills >= 20
    killer.aim("nowhere")
    assert team.end() == undisturbed
