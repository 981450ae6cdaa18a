"""The same end: a fault-free run, given the inputs in the order and slices of a faulty one, comes to the same history.

What the model did is part of the input: which try of a completion succeeded, which failed for now or for good. So are
queues that will never take a call, and instants. Ids derived from instants are left out of the comparison; call ids
are not derived from them, and must be the same.
"""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any

from core.chunks import Chunk, TextChunk
from core.errors import ModelOverflow, ModelRefused, ModelUnavailable
from core.messages import Envelope, Input, parse_input
from core.ports import Model, Outgoing, Unsent
from core.request import ModelRequest
from core.slice import SlicePorts, run_slice
from infra.memory import MemoryStore
from infra.scripted.model import ScriptedModel

from .facts import TURN_KINDS, CommitSeen, Facts, Json, ThreadFacts, seen
from .points import CURRENT, Faults, Gate, Invocation
from .queues import Sent
from .scenario import Scenario
from .tools import RAN

PLENTY_SECONDS = 1000.0


def history(commits: Sequence[CommitSeen]) -> tuple[list[Json], list[Json]]:
    """Entries, and what was promised to the client, in order."""
    entries: list[Json] = [dict(entry) for commit in commits for entry in commit.entries]
    outputs: list[Json] = [
        dict(p.content) for commit in commits for p in commit.promises if p.queue == "output"
    ]
    return entries, [output for output in outputs if output["kind"] != "carried"]


class SameEnd:
    """Compares runs with fault-free ones. Remembers what was right: most faulty runs come to few ends."""

    def __init__(self) -> None:
        self._right: set[str] = set()

    def broken(self, facts: Facts, scenario: Scenario, sent: Sequence[Sent]) -> Iterator[str]:
        """Where a thread's history is not that of a fault-free run."""
        for thread in facts.threads.values():
            lost = _lost_calls(facts, thread)
            known_by = repr((scenario.name, lost, _course(thread.commits)))
            if thread.commits and known_by not in self._right:
                differences = list(_differences(thread, scenario, sent, lost))
                yield from differences
                if not differences:
                    self._right.add(known_by)


def _course(commits: Sequence[CommitSeen]) -> list[tuple[Any, ...]]:
    """All that the comparison depends on, instants and ids derived from them apart."""
    visits = {commit.made.visit: number for number, commit in enumerate(commits)}
    return [
        (
            visits[commit.made.visit],
            commit.made.completing,
            commit.made.attempt,
            [key if key[0] not in ("wake", "timer") else key[0] for key in commit.consumed],
            [(change["op"], change.get("reason"), change.get("tries")) for change in commit.changes],
            history([commit]),
        )
        for commit in commits
    ]


def _differences(
    thread: ThreadFacts, scenario: Scenario, sent: Sequence[Sent], lost: set[str]
) -> Iterator[str]:
    again = _run(_Reference(thread, scenario, sent, lost).replay())
    theirs, ours = history(thread.commits), history(again)
    for what, faulty, faultless in zip(("entries", "outputs"), theirs, ours, strict=True):
        if faulty != faultless:
            yield f"the same end: {what} are {faulty}, without faults {faultless}"


def _run(work: Coroutine[Any, Any, list[CommitSeen]]) -> list[CommitSeen]:
    """Run it where tools neither wait nor count."""
    CURRENT.set(Invocation("reference", "reference", _AllGo()))
    RAN.set(lambda _: None)
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()


class _AllGo:
    """A `Schedule` without faults."""

    def wait_at(self, gate: Gate) -> None:
        gate.opened.set_result(None)

    def pass_at(self, who: Invocation, call: str, place: str, faults: Faults) -> None:
        """Go on."""


def _lost_calls(facts: Facts, thread: ThreadFacts) -> set[str]:
    """Calls that a queue refused for good."""
    lost = facts.refused - facts.sent.keys()
    promises = (promise for commit in thread.commits for promise in commit.promises)
    return {p.content["call_id"] for p in promises if p.id in lost and p.kind == "tool_call"}


@dataclass(slots=True)
class _SetClock:
    """Stands where it is set."""

    instant: datetime

    def now(self) -> datetime:
        return self.instant

    async def sleep(self, seconds: float) -> None:
        """Takes no time: the instants of the faulty run decide."""


@dataclass(slots=True)
class _Reference:
    """The fault-free run. It is also its own dispatcher: nothing has to be sent anywhere."""

    faulty: ThreadFacts
    scenario: Scenario
    sent: Sequence[Sent]
    lost_calls: set[str]
    clock: _SetClock = field(init=False)
    store: MemoryStore = field(init=False)
    rounds: list[CommitSeen] = field(init=False)
    """The faulty run's commits that hold the end of a round."""
    is_time_up: bool = False

    async def replay(self) -> list[CommitSeen]:
        commits = self.faulty.commits
        self.clock = _SetClock(commits[0].made.accepted_at)
        self.store = MemoryStore(self.clock)
        self.rounds = [commit for commit in commits if _ends_round(commit)]
        for _, visit in groupby(commits, key=lambda commit: commit.made.visit):
            await self._visit(list(visit))
        return self.commits()

    def commits(self) -> list[CommitSeen]:
        """What this run has committed so far."""
        made = self.faulty.commits[0].made
        return [seen(commit, made) for commit in self.store.commits(self.faulty.thread_id)]

    def rounds_had(self) -> int:
        """How many rounds this run has had so far."""
        return sum(map(_ends_round, self.commits()))

    async def _visit(self, commits: Sequence[CommitSeen]) -> None:
        """One slice. Without inputs it went on with an earlier one's work, which is done here already."""
        inputs = [taken for commit in commits for taken in await self._inputs(commit)]
        own = [self.rounds.index(commit) for commit in commits if commit in self.rounds]
        if not inputs and (not own or own[-1] < self.rounds_had()):
            return
        self.clock.instant, self.is_time_up = commits[0].made.accepted_at, False
        stops = any(_arms(commit, "continue") for commit in commits)

        def seconds_left() -> float:
            up = stops and (not own or own[-1] < self.rounds_had())
            return 0.0 if up or self.is_time_up else PLENTY_SECONDS

        await run_slice(
            self.scenario.app,
            SlicePorts(self.store, self, lambda _: _ReplayedModel(self), self.clock),
            self.faulty.thread_id,
            inputs,
            seconds_left=seconds_left,
            completing=commits[0].made.completing,
        )

    async def _inputs(self, commit: CommitSeen) -> list[Input]:
        """What a commit consumed. A wake or timer is the one that this run waits for, if any."""
        inputs = []
        state = (await self.store.load(self.faulty.thread_id)).folded.state
        for (kind, message_id), digest in zip(commit.consumed, commit.digests, strict=True):
            taken = self._input(kind, message_id, digest)
            if kind in ("wake", "timer"):
                awaited = state.wake if kind == "wake" else state.timer
                if awaited is None:
                    continue
                taken = Input(taken.message, awaited.id, taken.body_digest)
            inputs.append(taken)
        return inputs

    def _input(self, kind: str, message_id: str, digest: str) -> Input:
        for sent in self.sent:
            if sent.queue in ("input", "delay") and message_id in sent.body:
                taken = parse_input(sent.body, Envelope("", None))
                named = (taken.message.type, taken.message_id, taken.body_digest)
                if named == (kind, message_id, digest):
                    return taken
        raise AssertionError(f"{kind} {message_id} was consumed, but never sent")

    async def send(self, messages: Sequence[Outgoing]) -> tuple[Unsent, ...]:
        return tuple(
            Unsent(message, "no such queue", permanent=True)
            for message in messages
            if message.call_id in self.lost_calls
        )


def _arms(commit: CommitSeen, reason: str) -> bool:
    """Whether the commit leaves a wake for this reason, one that came early and is armed again apart."""
    change = commit.changed("wake_armed")
    early = any(kind == "wake" for kind, _ in commit.consumed) and not commit.entries
    return change is not None and change["reason"] == reason and not (early and change.get("tries", 0) == 0)


def _is_turn(commit: CommitSeen) -> bool:
    return any(entry["kind"] in TURN_KINDS for entry in commit.entries)


def _ends_round(commit: CommitSeen) -> bool:
    return _is_turn(commit) or _failure(commit) is not None or _arms(commit, "model")


def _failure(commit: CommitSeen) -> Json | None:
    """The error that a turn ended with. The dead-letter handler ends debts, not turns."""
    failed = any(e["kind"] == "turn_end" and e["reason"] == "failed" for e in commit.entries)
    errors = [p.content for p in commit.promises if p.kind == "error" and p.content["code"] != "dead_letter"]
    return errors[-1] if failed and errors else None


@dataclass(frozen=True, slots=True)
class _ReplayedModel:
    """Answers as the script does, and fails where the faulty run's model did."""

    reference: _Reference

    @property
    def signs_reasoning(self) -> bool:
        return True

    async def stream(self, request: ModelRequest, *, timeout_seconds: float) -> AsyncGenerator[Chunk, None]:
        reference = self.reference
        commit = reference.rounds[reference.rounds_had()]
        if request.context.attempt < commit.made.attempt:
            raise ModelUnavailable("it failed in the faulty run too")
        reference.clock.instant = commit.at
        if (failure := _failure(commit)) is not None:
            async for chunk in _broken_off(commit, failure):
                yield chunk
        if _arms(commit, "model"):
            reference.is_time_up = True
            raise ModelUnavailable("it failed in the faulty run too")
        model: Model = ScriptedModel(reference.scenario.script, reference.clock)
        async for chunk in model.stream(request, timeout_seconds=timeout_seconds):
            yield chunk


async def _broken_off(commit: CommitSeen, failure: Json) -> AsyncGenerator[Chunk, None]:
    """A completion that was given up: what is left of it, then the reason."""
    _, tries, reason = failure["message"].partition(" tries: ")
    if tries:
        for entry in commit.entries:
            if entry["kind"] == "assistant":
                yield TextChunk(entry["text"])
        raise ModelUnavailable(reason)
    raise (ModelOverflow if failure["code"] == "overflow" else ModelRefused)(failure["message"])
