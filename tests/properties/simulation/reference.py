"""The fault-free run that a faulty one is compared with: the same slices take in the same inputs, and nothing fails.

What the model did is part of the input: which try of a completion succeeded, which failed for now or for good. So are
a queue that will never take a call, a tool that hung, a slice that had no time left, and instants.
"""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from core.chunks import Chunk, TextChunk
from core.commit import Commit
from core.errors import ModelOverflow, ModelRefused, ModelUnavailable, Refused
from core.messages import Envelope, Input, Timer, Wake
from core.parsing import parse_input
from core.ports import Model, Outgoing, Unsent
from core.request import ModelRequest
from core.slice import SlicePorts, run_slice
from infra.memory import MemoryStore
from infra.scripted.model import ScriptedModel

from .facts import TURN_KINDS, CommitSeen, Json, ThreadFacts, seen
from .loop import VirtualLoop
from .points import CURRENT, Faults, Gate, Invocation
from .queues import Sent
from .scenario import Scenario
from .tools import RAN

PLENTY_SECONDS = 1000.0
_NOWHERE = Envelope("", None)


def replayed(reference: "Reference") -> list[CommitSeen]:
    """The fault-free run's log, made in a loop of its own, where waiting takes no time."""
    CURRENT.set(Invocation("reference", "reference", reference))
    RAN.set(reference.ran)
    loop = VirtualLoop()
    try:
        replaying = loop.create_task(reference.replay())
        loop.settle()
        while not replaying.done():
            loop.elapsed_seconds += loop.wait_seconds or 0.0
            loop.settle()
        return replaying.result()
    finally:
        loop.dispose()


class _Store(MemoryStore):
    """Says when it has taken a commit."""

    def __init__(self, clock: "_SetClock") -> None:
        super().__init__(clock)
        self._time = clock

    async def commit(self, commit: Commit) -> None:
        await super().commit(commit)
        self._time.instant = next(self._time.following, self._time.instant)


@dataclass(slots=True)
class _SetClock:
    """Stands where it is set, until a commit is made; then where the faulty run's next one was."""

    instant: datetime
    following: Iterator[datetime] = iter(())

    def now(self) -> datetime:
        return self.instant

    async def sleep(self, seconds: float) -> None:
        """Takes no time: the instants of the faulty run decide."""


@dataclass(slots=True)
class Reference:
    """The fault-free run. It is also its own dispatcher, as nothing has to be sent anywhere, and its own schedule."""

    faulty: ThreadFacts
    scenario: Scenario
    sent: Sequence[Sent]
    lost_calls: set[str]
    clock: _SetClock = field(init=False)
    store: MemoryStore = field(init=False)
    rounds: list[CommitSeen] = field(init=False)
    """The faulty run's commits that hold the end of a round."""
    is_time_up: bool = False
    hangs: bool = False

    async def replay(self) -> list[CommitSeen]:
        """Slice after slice."""
        commits = self.faulty.commits
        self.clock = _SetClock(commits[0].made.accepted_at)
        self.store = _Store(self.clock)
        self.rounds = _rounds(commits)
        for _, visit in groupby(commits, key=lambda commit: commit.made.visit):
            await self._visit(list(visit))
        return self.commits()

    async def _visit(self, commits: Sequence[CommitSeen]) -> None:
        """One slice. Without inputs it went on with an earlier one's work, which is done here already."""
        made = commits[0].made
        inputs = [taken for commit in commits for taken in await self._inputs(commit)]
        if not inputs and not made.completing:
            inputs = [await self._awaited(taken) for taken in self._dead(commits[0])]
        own = [self.rounds.index(commit) for commit in commits if commit in self.rounds]
        if not inputs and (not own or own[-1] < self.rounds_had()):
            return
        self.is_time_up = False
        self.clock.instant, self.clock.following = made.accepted_at, (commit.at for commit in commits[1:])

        def seconds_left() -> float:
            """Where the faulty slice made no further completion, this one has no time for one."""
            over = self.is_time_up or self.next_round(made.visit) is None
            return 0.0 if over else PLENTY_SECONDS

        await run_slice(
            self.scenario.app,
            SlicePorts(self.store, self, lambda _: _ReplayedModel(self, made.visit), self.clock),
            self.faulty.thread_id,
            inputs,
            seconds_left=seconds_left,
            completing=made.completing,
        )

    # ---- where the two runs are

    def commits(self) -> list[CommitSeen]:
        """What this run has committed so far."""
        made = self.faulty.commits[0].made
        return [seen(commit, made) for commit in self.store.commits(self.faulty.thread_id)]

    def rounds_had(self) -> int:
        """How many rounds this run has had so far."""
        return len(_rounds(self.commits()))

    def next_round(self, visit: int) -> CommitSeen | None:
        """The faulty run's commit of this slice's next round; None if it made no more. A later slice that took in
        nothing only went on with this one's work: its rounds count as this one's."""
        had = self.rounds_had()
        following = self.rounds[had] if had < len(self.rounds) else None
        if following is None or following.made.visit == visit or self._goes_on(visit, following):
            return following
        return None

    def _goes_on(self, visit: int, commit: CommitSeen) -> bool:
        """Whether nothing was taken in between a slice and this commit of a later one, nor by that."""
        last = max(other.number for other in self.faulty.commits if other.made.visit == visit)
        later = [other for other in self.faulty.commits if other.made.visit == commit.made.visit]
        between = self.faulty.commits[last : later[-1].number]
        return commit.made.completing and not any(other.consumed for other in between)

    # ---- inputs

    async def _inputs(self, commit: CommitSeen) -> list[Input]:
        """What a commit consumed. Of a wake or timer that this run does not wait for there is nothing to take."""
        taken = [
            self._input(*key, digest) for key, digest in zip(commit.consumed, commit.digests, strict=True)
        ]
        named = [await self._awaited(one) for one in taken]
        return [one for one in named if one.message_id]

    async def _awaited(self, taken: Input) -> Input:
        """A wake or timer under the id that this run gave it; an empty one if it waits for none."""
        if not isinstance(taken.message, Wake | Timer):
            return taken
        state = (await self.store.load(self.faulty.thread_id)).folded.state
        awaited = state.wake if isinstance(taken.message, Wake) else state.timer
        return Input(taken.message, awaited.id if awaited else "", taken.body_digest)

    def _dead(self, commit: CommitSeen) -> list[Input]:
        """Dead letters of this visit that ended a debt: of an input taken in before, or of the wake waited for."""
        if not any(entry["kind"] == "turn_end" for entry in commit.entries):
            return []
        dead = []
        for body in commit.made.given:
            with suppress(Refused):
                taken = parse_input(body, _NOWHERE)
                number = self.faulty.consumed.get((taken.message.type, taken.message_id), 0)
                if number < commit.number and bool(number) != isinstance(taken.message, Wake | Timer):
                    dead.append(taken)
        return dead

    def _input(self, kind: str, message_id: str, digest: str) -> Input:
        for sent in self.sent:
            if sent.queue in ("input", "delay") and message_id in sent.body:
                taken = parse_input(sent.body, _NOWHERE)
                if (taken.message.type, taken.message_id, taken.body_digest) == (kind, message_id, digest):
                    return taken
        raise AssertionError(f"{kind} {message_id} was consumed, but never sent")

    # ---- as dispatcher and schedule

    async def send(self, messages: Sequence[Outgoing]) -> tuple[Unsent, ...]:
        return tuple(
            Unsent(message, "no such queue", permanent=True)
            for message in messages
            if message.call_id in self.lost_calls
        )

    def ran(self, call_id: str) -> None:
        """An inline tool begins. It hangs if it did in the faulty run."""
        results = [e for e in self.faulty.entries if e["kind"] == "tool_result" and e["call_id"] == call_id]
        self.hangs = any(result["outcome"] == "timed_out" for result in results)

    def wait_at(self, gate: Gate) -> None:
        if not self.hangs:
            gate.opened.set_result(None)

    def pass_at(self, who: Invocation, call: str, place: str, faults: Faults) -> None:
        """Nothing here is synchronous."""


def _rounds(commits: Sequence[CommitSeen]) -> list[CommitSeen]:
    """The commits that hold the end of a round: a turn, a failed one, or a wake to try again."""
    rounds, tries = [], 0
    for commit in commits:
        turn = any(entry["kind"] in TURN_KINDS for entry in commit.entries)
        early = _tries(commit) == tries and any(kind == "wake" for kind, _ in commit.consumed)
        again = (
            bool(_tries(commit)) and not early
        )  # a wake that came early is armed again, with as many tries
        ended = turn or _failure(commit) is not None
        if ended or again:
            rounds.append(commit)
        tries = 0 if ended else _tries(commit) or tries
    return rounds


def _tries(commit: CommitSeen) -> int:
    """Tries of a completion that goes on later; 0 if none does."""
    change = commit.changed("wake_armed")
    return int(change["tries"]) if change is not None and change["reason"] == "model" else 0


def _failure(commit: CommitSeen) -> Json | None:
    """The error that a turn ended with. The dead-letter handler ends debts, not turns."""
    failed = any(e["kind"] == "turn_end" and e["reason"] == "failed" for e in commit.entries)
    errors = [p.content for p in commit.promises if p.kind == "error" and p.content["code"] != "dead_letter"]
    return errors[-1] if failed and errors else None


@dataclass(frozen=True, slots=True)
class _ReplayedModel:
    """Answers as the script does, and fails where the faulty run's model did."""

    reference: Reference
    visit: int

    @property
    def context_window(self) -> int | None:
        return None

    @property
    def signs_reasoning(self) -> bool:
        return True

    async def stream(self, request: ModelRequest, *, timeout_seconds: float) -> AsyncGenerator[Chunk, None]:
        reference = self.reference
        commit = reference.next_round(self.visit)
        assert commit is not None
        if request.context.attempt < commit.made.attempt:
            raise ModelUnavailable("it failed in the faulty run too")
        reference.clock.instant = commit.at
        if (failure := _failure(commit)) is not None:
            async for chunk in _broken_off(commit, failure):
                yield chunk
        if _tries(commit):
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
