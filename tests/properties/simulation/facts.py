"""What the checker knows: durable facts, read from the records that were written and sent.

It folds commits by itself, from their JSON, and shares nothing with the product's fold but the ids' derivation.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from core.clock import parse_iso

from .commits_seen import CommitSeen, Json, Promise, identity_of
from .thread_facts import ThreadFacts


@dataclass(slots=True)
class WorkFacts:
    """One call as the worker's records say."""

    state: str = "new"
    """new, running, asking, finished, cancelled."""
    holder: str = ""
    lease_until: datetime | None = None
    starters: set[str] = field(default_factory=set)
    """Invocations that were told to run it."""
    runs: int = 0
    asked: set[str] = field(default_factory=set)
    """Bodies of the questions that were recorded."""


@dataclass(slots=True)
class Facts:
    """Everything durable."""

    limit_tokens: int = 0
    """What user text renews a root's credit to."""
    threads: dict[str, ThreadFacts] = field(default_factory=dict)
    spawned: dict[str, str] = field(default_factory=dict)
    """By child thread id, the id of the message that makes it."""
    granted: int = 0
    """Tokens that user text has given to roots."""
    spent: int = 0
    """Tokens that completions have taken from credit."""
    closed: bool = False
    """Everything has come to its end: no thread may change any more."""
    promised: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    """Thread, commit number and position by the id of a promised message, where it was promised first."""
    sent: dict[str, str] = field(default_factory=dict)
    """Body by id, of messages that a queue has or had."""
    sent_by: set[tuple[str, str]] = field(default_factory=set)
    """Who sent which id."""
    refused: set[str] = field(default_factory=set)
    """Ids of messages that a queue will never take."""
    work: dict[str, WorkFacts] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    """Body of the answer by call id."""
    asked_about: set[str] = field(default_factory=set)
    """Ids of the calls whose worker sent a question."""
    outputs: dict[str, Json] = field(default_factory=dict)
    """By `output_id`, as the client gets them."""
    told: set[str] = field(default_factory=set)
    """Message ids that an `error` output named."""
    calls: set[str] = field(default_factory=set)
    """Ids of the calls that models made. A child's history opens with its parent's, which is none of them."""
    deadlines: dict[str, datetime] = field(default_factory=dict)
    """By call id, of the calls promised to workers."""
    parked: set[str] = field(default_factory=set)
    """Message ids of parked bodies."""

    def thread(self, thread_id: str) -> ThreadFacts:
        return self.threads.setdefault(thread_id, ThreadFacts(thread_id))

    def of_call(self, call_id: str) -> WorkFacts:
        return self.work.setdefault(call_id, WorkFacts())

    def apply(self, thread_id: str, commit: CommitSeen) -> None:
        """One more commit is durable."""
        self.thread(thread_id).apply(commit)
        self.calls |= {entry["call_id"] for entry in commit.own_entries if entry["kind"] == "tool_call"}
        for position, promise in enumerate(commit.promises):
            self.promised.setdefault(promise.id, (thread_id, commit.number, position))
            if promise.kind == "spawn":
                self.spawned.setdefault(promise.content["thread_id"], promise.id)
            if promise.kind == "tool_call":
                self.deadlines[promise.content["call_id"]] = parse_iso(promise.content["deadline_at"])

    def promise(self, message_id: str) -> Promise:
        thread_id, number, position = self.promised[message_id]
        return self.threads[thread_id].commits[number - 1].promises[position]

    def open_promises(self, commit: CommitSeen) -> Iterator[Promise]:
        """What no queue has, and none has refused for good."""
        gone = self.sent.keys() | self.refused
        return (promise for promise in commit.promises if promise.id not in gone)

    def was_refused(self, body: str) -> bool:
        """Whether this is an input that was refused: another time it may be welcome."""
        message = json.loads(body)
        known = message.get("message_id", "") in self.told | self.parked
        return known and identity_of(message) not in self.thread(message["thread_id"]).taken

    def states(self) -> str:
        """What a fault meets: the threads in a few words."""
        return "; ".join(thread.state for thread in self.threads.values())
