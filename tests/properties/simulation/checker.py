"""The checker: hears of every effect, holds every rule against it, and then takes it into what it knows."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.clock import Clock
from core.commit import Commit, commit_record
from core.delivery import UNSCHEDULE
from core.ids import digest
from core.parsing import thread_of
from core.ports import Outgoing, ParkedBody
from core.request import ModelRequest
from core.work import Asked, Asking, Begun, Ended, Finished, Started
from infra.memory import MemoryStore

from .commits_seen import Circumstances, Json, seen
from .facts import Facts
from .points import CURRENT, VISIT, Invocation, Visit
from .rules_credit import account_for, broken_by_minting
from .rules_end import broken_at_the_end
from .rules_erasing import broken_by_erasing, broken_by_leaving
from .rules_inputs import broken_by_acknowledging
from .rules_log import broken_by_commit, broken_by_rewriting
from .rules_sending import (
    broken_by_sending,
    broken_by_taking_back,
    broken_by_tip,
    broken_by_writing_for,
)
from .rules_tree import broken_by_silence
from .rules_waiting import broken_by_forgetting
from .rules_work import broken_by_asking, broken_by_beginning, broken_by_running

MOST_CALLS = 200
"""Of one port by one slice: one that asks more often goes round in circles (invariant *bounded*)."""


@dataclass(slots=True)
class Checker:
    """Implements `Watcher`."""

    clock: Clock
    facts: Facts = field(default_factory=Facts)
    broken: list[str] = field(default_factory=list)
    effects: int = 0
    """Durable ones, so far."""
    visits: int = 0
    """Loads, so far."""
    known: dict[str, dict[str, int]] = field(default_factory=dict)
    """By invocation and thread, the newest commit it saw or made."""

    def _hold(self, violations: Iterable[str]) -> None:
        self.broken.extend(violations)

    def _knows(self, who: Invocation, thread_id: str, number: int) -> None:
        by_thread = self.known.setdefault(who.name, {})
        by_thread[thread_id] = max(number, by_thread.get(thread_id, 0))

    def loaded(self, who: Invocation, thread_id: str, number: int) -> None:
        self.visits += 1
        self._hold(_too_many_calls(who))
        visit = Visit(self.visits)
        who.visits.append(visit)
        VISIT.set(visit)
        self._knows(who, thread_id, number)

    def committed(self, who: Invocation, commit: Commit) -> None:
        self.effects += 1
        thread, now_seen = self.facts.thread(commit.thread_id), seen(commit, self._circumstances(who, commit))
        self._knows(who, commit.thread_id, commit.number)
        if commit.number <= len(thread.commits):
            self._hold(broken_by_rewriting(thread, now_seen))
            return
        self._hold(broken_by_commit(self.facts, thread, now_seen))
        self._hold(broken_by_erasing(thread, now_seen))
        account_for(self.facts, thread, now_seen)
        self.facts.apply(commit.thread_id, now_seen)
        self._hold(broken_by_silence(thread))
        self._hold(broken_by_forgetting(thread))
        self._hold(broken_by_minting(self.facts))

    def _circumstances(self, who: Invocation, commit: Commit) -> Circumstances:
        visit = VISIT.get() or Visit(0)
        return Circumstances(
            by=who.name,
            visit=visit.number,
            completing=who.function == "agent",
            deployment=who.deployment,
            accepted_at=visit.accepted_at or self.clock.now(),
            attempt=visit.attempt,
            tokens=visit.tokens,
            routing_attempt=visit.routing_attempt,
            routing_tokens=visit.routing_tokens,
            given=tuple(body for body in who.given if thread_of(body)[0] == commit.thread_id),
        )

    def marked(self, who: Invocation, commit: Commit) -> None:
        self.effects += 1
        thread = self.facts.thread(commit.thread_id)
        if who.function == "command" and not (commit.consumed or commit.changes):
            return  # a fork's readers, which come before its commit, and nothing else
        self._hold(broken_by_writing_for(thread, commit.number, commit.digest, "markers"))
        thread.marked.add(commit.number)

    def settled(self, who: Invocation, commit: Commit) -> None:
        self.effects += 1
        thread = self.facts.thread(commit.thread_id)
        self._hold(broken_by_writing_for(thread, commit.number, commit.digest, "tip"))
        self._hold(broken_by_tip(self.facts, thread, commit.number))
        thread.tip = max(thread.tip, commit.number)

    def parked(self, who: Invocation, parked: ParkedBody) -> None:
        self.effects += 1
        self.facts.parked.add(parked.message_id)

    def sent(self, who: Invocation, message: Outgoing) -> None:
        self.effects += 1
        if message.queue == UNSCHEDULE:
            self._hold(broken_by_taking_back(self.facts, message))
            self.facts.sent.setdefault(message.id, message.body)
            return
        facts, body = self.facts, json.loads(message.body)
        self._hold(broken_by_sending(facts, who.function.partition(":")[0], message))
        facts.sent.setdefault(message.id, message.body)
        facts.sent_by.add((who.name, message.id))
        if message.queue == "output":
            facts.outputs.setdefault(body["output_id"], body)
            if body["type"] == "error" and body["message_id"] is not None:
                facts.told.add(body["message_id"])
        elif body["type"] == "tool_result":
            facts.answers.setdefault(body["call_id"], message.body)
        elif body["type"] == "question":
            facts.asked_about.add(body["call_id"])

    def refused(self, who: Invocation, message: Outgoing) -> None:
        self.facts.refused.add(message.id)
        body = json.loads(message.body)
        if body["type"] == "error":  # nobody can be told of it: as good as told
            self.facts.told.add(body["message_id"])

    def requested(self, who: Invocation, request: ModelRequest) -> None:
        if (visit := VISIT.get()) is not None:
            which = "routing_attempt" if request.context.routing else "attempt"
            setattr(visit, which, request.context.attempt)
        thread = self.facts.thread(request.context.thread_stack[-1])
        number = self.known.get(who.name, {}).get(thread.thread_id, 0)
        self._hold(broken_by_asking(self.facts, thread, number, request))

    def completed(self, who: Invocation, request: ModelRequest, tokens: int) -> None:
        if (visit := VISIT.get()) is None:
            return
        if request.context.routing:
            visit.routing_tokens = tokens
        else:
            visit.tokens = tokens

    def begun(self, who: Invocation, call_id: str, lease_until: datetime, begun: Begun) -> None:
        self.effects += 1
        work = self.facts.of_call(call_id)
        self._hold(broken_by_beginning(work, who.name, lease_until, begun, self.clock.now()))
        if isinstance(begun, Started):
            work.state, work.holder, work.lease_until = "running", who.name, lease_until
            work.starters.add(who.name)

    def finished(self, who: Invocation, call_id: str, ended: Ended) -> None:
        self.effects += 1
        work = self.facts.of_call(call_id)
        if work.state in ("finished", "cancelled") and isinstance(ended, Finished) != (
            work.state == "finished"
        ):
            self._hold([f"once: {call_id} was {work.state}, and {who.name} is told {ended}"])
        work.state = "finished" if isinstance(ended, Finished) else "cancelled"

    def asked(self, who: Invocation, call_id: str, asked: Asked) -> None:
        self.effects += 1
        if isinstance(asked, Asking):
            work = self.facts.of_call(call_id)
            work.state = "asking"
            work.asked.add(asked.body)

    def answered(self, who: Invocation, call_id: str, *, goes_on: bool) -> None:
        self.effects += 1
        work = self.facts.of_call(call_id)
        if goes_on and work.state == "asking":
            work.state = "new"

    def cancelled(self, who: Invocation, call_id: str) -> None:
        self.effects += 1
        work = self.facts.of_call(call_id)
        if work.state != "finished":
            work.state = "cancelled"

    def ran(self, call_id: str) -> None:
        """Called by tools. Inline calls have no record: they run again if their slice does."""
        self.effects += 1
        who = CURRENT.get()
        work = self.facts.of_call(call_id)
        work.runs += 1
        if who.function.startswith("worker"):
            deadline = self.facts.deadlines.get(call_id)
            self._hold(broken_by_running(work, who.name, self.clock.now(), deadline))

    def acknowledged(self, who: Invocation, queue: str, record: Mapping[str, Any], *, alone: bool) -> None:
        self.effects += 1
        self._hold(_too_many_calls(who))
        known = self.known.get(who.name, {}) if alone else {}  # a later record's slice may have seen more
        self._hold(broken_by_acknowledging(self.facts, who.name, known, queue, record))

    def failed(self, who: Invocation, error: str) -> None:
        """A record failed for a reason that no retry mends: in these scenarios always a bug."""
        self._hold([f"unexpected error in {who.name}: {error}"])

    def ended(self, said: Sequence[Json], store: MemoryStore) -> None:
        """Nothing is left to do."""
        self._hold(broken_at_the_end(self.facts, said))
        for thread in self.facts.threads.values():
            kept = [digest(commit_record(commit)) for commit in store.commits(thread.thread_id)]
            self._hold(broken_by_leaving(thread, store))
            if kept != [commit.digest for commit in thread.log()]:
                self._hold([f"append-only: the log of {thread.thread_id} is not what was committed"])


def _too_many_calls(who: Invocation) -> Iterator[str]:
    for visit in who.visits:
        for call, count in visit.calls.items():
            if count > MOST_CALLS:
                yield f"bounded: a slice of {who.name} made {count} calls of {call}"
