"""The fault-free run that a faulty one is compared with: the same slices take in the same inputs, and nothing fails.

One thread at a time: what others told it is its input, and what it inherits is read from their logs, which are compared
in their turn. A queue that will never take a call, a tool that hung, a slice that had no time left, instants and what
the model did (`replayed_model.py`) are input too.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby

from core.clock import Clock
from core.commit import Commit
from core.errors import Refused
from core.messages import CompactionDone, Envelope, Input, Timer, Wake
from core.parsing import parse_input
from core.ports import Outgoing, Unsent
from core.slice import SlicePorts, run_slice
from infra.memory import MemoryStore
from infra.memory.thread import Thread

from .commits_seen import CommitSeen, TakenIn, identity_of, seen
from .loop import VirtualLoop
from .points import CURRENT, Faults, Gate, Invocation
from .queues import Sent
from .replayed_model import ReplayedModel, rounds_of
from .scenario import Scenario
from .thread_facts import ThreadFacts
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
    """Keeps one thread, and reads all others where the faulty run left them. Moves the clock with each commit."""

    def __init__(self, clock: "_SetClock", thread_id: str, others: MemoryStore) -> None:
        super().__init__(clock)
        self._time, self._own, self._others = clock, thread_id, others

    def _thread(self, thread_id: str) -> Thread:
        return super()._thread(thread_id) if thread_id == self._own else self._others._thread(thread_id)

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
    others: MemoryStore
    lost_calls: set[tuple[str, str]]
    """Ids, and the type of the message that no queue took."""
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
        self.store = _Store(self.clock, self.faulty.thread_id, self.others)
        self.rounds = rounds_of(commits)
        if (commits[0].origin or {}).get("forked_from"):
            await self._fork()
        for _, visit in groupby(commits, key=lambda commit: commit.made.visit):
            await self._visit(list(visit))
        return self.commits()

    async def _fork(self) -> None:
        """A fork begins by no input, but by a commit of a command."""
        first = self.others.commits(self.faulty.thread_id)[0]
        await self.store.commit(first)
        await self.store.mark(first)
        await self.store.settled(first, waiting=False)

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
        # If nothing came, it began once something was due.
        self.clock.instant = made.accepted_at if inputs else commits[0].at
        self.clock.following = iter([commit.at for commit in commits[1:]])

        def seconds_left() -> float:
            """Where the faulty slice made no further completion, this one has no time for one."""
            over = self.is_time_up or self.next_round(made.visit) is None
            return 0.0 if over else PLENTY_SECONDS

        await run_slice(
            self.scenario.deployed(made.deployment),
            SlicePorts(
                self.store, self, lambda _: ReplayedModel(self, self.scenario.script, made.visit), self.clock
            ),
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
        return len(rounds_of(self.commits()))

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
        return commit.made.completing and not any(other.taken for other in between)

    def move_to(self, commit: CommitSeen) -> Clock:
        """The clock, at this commit of the faulty run."""
        self.clock.instant = commit.at
        return self.clock

    # ---- inputs

    async def _inputs(self, commit: CommitSeen) -> list[Input]:
        """What a commit consumed. Of a wake or timer that this run does not wait for there is nothing to take."""
        named = [await self._awaited(self._input(one)) for one in commit.taken]
        return [one for one in named if one.message_id]

    async def _awaited(self, taken: Input) -> Input:
        """A wake or timer under the id that this run gave it, an empty one if it waits for none; the end of a
        compaction as that of its own.
        """
        if not isinstance(taken.message, Wake | Timer | CompactionDone):
            return taken
        state = (await self.store.load(self.faulty.thread_id)).folded.state
        if isinstance(taken.message, CompactionDone):
            child = state.compaction.thread_id if state.compaction else taken.message.child_thread_id
            return replace(taken, message=taken.message.model_copy(update={"child_thread_id": child}))
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
                number = self.faulty.took(taken.message.type, taken.message_id) or 0
                if number < commit.number and bool(number) != isinstance(taken.message, Wake | Timer):
                    dead.append(taken)
        return dead

    def _input(self, wanted: TakenIn) -> Input:
        for sent in self.sent:
            if sent.queue in ("input", "delay") and wanted.message_id in sent.body:
                taken = parse_input(sent.body, _NOWHERE)
                body = json.loads(sent.body)
                if (identity_of(body), taken.body_digest) == (wanted.identity, wanted.digest):
                    return taken
        raise AssertionError(f"{wanted.identity} was consumed, but never sent")

    # ---- as dispatcher and schedule

    async def send(self, messages: Sequence[Outgoing]) -> tuple[Unsent, ...]:
        return tuple(
            Unsent(message, "no such queue", permanent=True)
            for message in messages
            if message.call_id and (message.call_id, json.loads(message.body)["type"]) in self.lost_calls
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
