"""The model of a fault-free run: it answers as the script does, and fails where the faulty run's model did.

What the model did is part of the input: which try of a completion succeeded, which failed for now or for good.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.chunks import Chunk, TextChunk
from core.clock import Clock
from core.errors import ModelOverflow, ModelRefused, ModelUnavailable
from core.request import ModelRequest
from core.slice.requests import with_attempt
from infra.scripted.model import ScriptedModel
from infra.scripted.script import Script

from .commits_seen import CommitSeen, Json

ALL_TRIES = " tries: "
"""In an error: it was not refused, but tried in vain."""


class Replay(Protocol):
    """Where the fault-free run is."""

    is_time_up: bool

    def next_round(self, visit: int) -> CommitSeen | None:
        """The faulty run's commit of the next round."""
        ...

    def move_to(self, commit: CommitSeen) -> Clock:
        """The clock, at this commit."""
        ...


def rounds_of(commits: Sequence[CommitSeen]) -> list[CommitSeen]:
    """The commits that hold the end of a round: a turn, a failed one, a wake to try again, a route without time for
    its turn.
    """
    rounds, tries = [], 0
    for commit in commits:
        early = _tries(commit) == tries and any(one.kind == "wake" for one in commit.taken)
        # A wake that came early is armed again, with as many tries; a new route has tries of its own.
        again = bool(_tries(commit)) and (not early or commit.changed("route") is not None)
        ended = commit.has_turn or _overflows(commit) or _failure(commit) is not None
        if ended or again or commit.changed("route") is not None:
            rounds.append(commit)
        tries = 0 if ended else _tries(commit) or tries
    return rounds


def _tries(commit: CommitSeen) -> int:
    """Tries of a completion that goes on later; 0 if none does."""
    change = commit.changed("wake_armed")
    return int(change["tries"]) if change is not None and change["reason"] == "model" else 0


def _failure(commit: CommitSeen) -> Json | None:
    """The error that a turn ended with. The dead-letter handler ends debts, not turns; a compaction tells nobody."""
    errors = [promise.content for promise in commit.promised("error")]
    if not commit.failed or any(error["code"] == "dead_letter" for error in errors):
        return None
    return errors[-1] if errors else {"code": "model", "message": ALL_TRIES if commit.has_turn else ""}


def _overflows(commit: CommitSeen) -> bool:
    """Whether a request was too long, and a compaction is waited for."""
    change = commit.changed("compacting")
    return change is not None and bool(change["blocked"])


@dataclass(frozen=True, slots=True)
class ReplayedModel:
    """Answers as the script does, and fails where the faulty run's model did."""

    replay: Replay
    script: Script
    visit: int

    @property
    def context_window(self) -> int | None:
        return self.script.context_window

    @property
    def signs_reasoning(self) -> bool:
        return True

    async def stream(self, request: ModelRequest, *, timeout_seconds: float) -> AsyncGenerator[Chunk, None]:
        commit = self.replay.next_round(self.visit)
        assert commit is not None
        if request.context.routing:
            async for chunk in self._route(commit, request, timeout_seconds):
                yield chunk
            return
        tries = max(commit.made.attempt, _tries(commit))  # for the last one there may have been no time
        if request.context.attempt < tries:
            raise ModelUnavailable("it failed in the faulty run too")
        clock = self.replay.move_to(commit)
        if _overflows(commit):
            raise ModelOverflow("it was too long in the faulty run too")
        if (failure := _failure(commit)) is not None:
            async for chunk in _broken_off(commit, failure):
                yield chunk
        if _tries(commit):
            self.replay.is_time_up = True
            raise ModelUnavailable("it failed in the faulty run too")
        async for chunk in ScriptedModel(self.script, clock).stream(request, timeout_seconds=timeout_seconds):
            yield chunk

    async def _route(
        self, commit: CommitSeen, request: ModelRequest, timeout_seconds: float
    ) -> AsyncGenerator[Chunk, None]:
        """What a supervisor was told: nothing yet, nothing at all, or what the script says."""
        clock = self.replay.move_to(commit)
        if commit.changed("route") is None:
            self.replay.is_time_up = True
            raise ModelUnavailable("it failed in the faulty run too")
        if not (commit.has_turn or _tries(commit) or _overflows(commit) or _failure(commit)):
            self.replay.is_time_up = True  # for its turn
        if not commit.made.routing_tokens:
            raise ModelRefused("it was never answered in the faulty run either")
        asked = with_attempt(request, commit.made.routing_attempt)
        async for chunk in ScriptedModel(self.script, clock).stream(asked, timeout_seconds=timeout_seconds):
            yield chunk


async def _broken_off(commit: CommitSeen, failure: Json) -> AsyncGenerator[Chunk, None]:
    """A completion that was given up: what is left of it, then the reason."""
    _, tries, reason = failure["message"].partition(ALL_TRIES)
    if tries:
        for entry in commit.entries:
            if entry["kind"] == "assistant":
                yield TextChunk(entry["text"])
        raise ModelUnavailable(reason)
    raise (ModelOverflow if failure["code"] == "overflow" else ModelRefused)(failure["message"])
