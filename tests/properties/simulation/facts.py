"""What the checker knows: durable facts, read from the records that were written and sent.

It folds commits by itself, from their JSON, and shares nothing with the product's fold but the ids' derivation.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.clock import parse_iso
from core.commit import Commit, commit_record
from core.ids import outbox_id

Json = Mapping[str, Any]
Key = tuple[str, str]
"""Type and message id of an input."""

MARKED = ("user_message", "cancel", "close")
TURN_KINDS = ("assistant", "reasoning", "tool_call")
OUTPUT_KINDS = ("assistant_message", "tool_started", "error")


@dataclass(frozen=True, slots=True)
class Promise:
    """One message of a commit's outbox."""

    id: str
    kind: str
    queue: str
    content: Json


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Who wrote a commit, and when."""

    by: str
    """The invocation."""
    visit: int
    """Which load it goes back to, counted over the run."""
    completing: bool
    accepted_at: datetime
    """When that visit took its inputs in."""
    attempt: int
    """Of the last completion before it, counted over slices."""
    given: tuple[str, ...]
    """The bodies of the invocation's records."""


@dataclass(frozen=True, slots=True)
class CommitSeen:
    """One commit of a log, as its record says."""

    number: int
    digest: str
    at: datetime
    first_seq: int
    entries: tuple[Json, ...]
    consumed: tuple[Key, ...]
    digests: tuple[str, ...]
    """Of the bodies of the consumed inputs."""
    changes: tuple[Json, ...]
    promises: tuple[Promise, ...]
    made: Circumstances

    @property
    def by(self) -> str:
        return self.made.by

    @property
    def marked_inputs(self) -> bool:
        return any(kind in MARKED for kind, _ in self.consumed)

    def changed(self, op: str) -> Json | None:
        """The last change of this kind."""
        return next((change for change in reversed(self.changes) if change["op"] == op), None)

    def answers(self, call_id: str) -> bool:
        return any(e["kind"] == "tool_result" and e["call_id"] == call_id for e in self.entries)


def seen(commit: Commit, made: Circumstances) -> CommitSeen:
    """The commit's record, taken apart."""
    record = json.loads(json.dumps(commit_record(commit)))
    outbox = record.get("outbox", ())
    first = record["first_seq"]
    return CommitSeen(
        number=record["number"],
        digest=commit.digest,
        at=commit.at,
        first_seq=first,
        entries=tuple({**entry, "seq": first + i} for i, entry in enumerate(record.get("entries", ()))),
        consumed=tuple((taken["type"], taken["message_id"]) for taken in record.get("consumed", ())),
        digests=tuple(taken["body_digest"] for taken in record.get("consumed", ())),
        changes=tuple(record.get("changes", ())),
        promises=tuple(_promise(commit, position, message) for position, message in enumerate(outbox)),
        made=made,
    )


def _promise(commit: Commit, position: int, message: Json) -> Promise:
    sent_as = outbox_id(commit.thread_id, commit.digest, position)
    match message["kind"]:
        case "carried":
            return Promise(message["id"], "carried", message["queue"], message)
        case "tool_call" | "tool_cancel" as kind:
            return Promise(sent_as, kind, f"worker:{message['worker']}", message)
        case "wake" | "timer" as kind:
            return Promise(sent_as, kind, "delay" if message.get("due_at") else "input", message)
        case kind:
            return Promise(sent_as, kind, "output", message)


@dataclass(slots=True)
class ThreadFacts:
    """One thread, folded."""

    thread_id: str
    commits: list[CommitSeen] = field(default_factory=list)
    tip: int = 0
    marked: set[int] = field(default_factory=set)
    entries: list[Json] = field(default_factory=list)
    live: dict[str, Json] = field(default_factory=dict)
    owes: str | None = None
    wake: str | None = None
    wake_reason: str = ""
    wakes: list[str | None] = field(default_factory=list)
    """By commit, the wake that was waited for after it."""
    timer: str | None = None
    deferred: list[str] = field(default_factory=list)
    closed: bool = False
    consumed: dict[Key, int] = field(default_factory=dict)

    @property
    def last_seq(self) -> int:
        return len(self.entries)

    @property
    def runnable(self) -> bool:
        return self.owes is not None and not self.live and not self.closed

    @property
    def state(self) -> str:
        """In a few words."""
        words = {
            "working": self.live,
            "owes": self.owes,
            f"waits ({self.wake_reason})": self.wake,
            "timer": self.timer,
            "deferred": self.deferred,
            "unsettled": len(self.commits) - self.tip,
            "closed": self.closed,
        }
        return ", ".join(word for word, holds in words.items() if holds) or "at rest"

    def live_after(self, number: int) -> set[str]:
        """Ids of the calls that were live after this commit."""
        entries = [entry for commit in self.commits[:number] for entry in commit.entries]
        called = {entry["call_id"] for entry in entries if entry["kind"] == "tool_call"}
        return called - {entry["call_id"] for entry in entries if entry["kind"] == "tool_result"}

    def apply(self, commit: CommitSeen) -> None:
        """Fold one more commit."""
        self.commits.append(commit)
        for entry in commit.entries:
            self.entries.append(entry)
            if entry["kind"] == "tool_call":
                self.live[entry["call_id"]] = entry
            elif entry["kind"] == "tool_result":
                self.live.pop(entry["call_id"], None)
        for key in commit.consumed:
            self.consumed.setdefault(key, commit.number)
        for change in commit.changes:
            self._change(commit, change)
        self.wakes.append(self.wake)

    def _change(self, commit: CommitSeen, change: Json) -> None:
        match change["op"]:
            case "owes":
                self.owes = change.get("to")
            case "wake_armed":
                self.wake, self.wake_reason = commit.promises[change["position"]].id, change["reason"]
            case "wake_cleared":
                self.wake = None
            case "timer_armed":
                self.timer = commit.promises[change["position"]].id
            case "timer_cleared":
                self.timer = None
            case "deferred":
                self.deferred.append(change["deferred"]["message_id"])
            case "deferred_joined":
                del self.deferred[: change["count"]]
            case "closed":
                self.closed = True


@dataclass(slots=True)
class WorkFacts:
    """One call as the worker's records say."""

    state: str = "new"
    """new, running, finished, cancelled."""
    holder: str = ""
    lease_until: datetime | None = None
    starters: set[str] = field(default_factory=set)
    """Invocations that were told to run it."""
    runs: int = 0


@dataclass(slots=True)
class Facts:
    """Everything durable."""

    threads: dict[str, ThreadFacts] = field(default_factory=dict)
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
    outputs: dict[str, Json] = field(default_factory=dict)
    """By `output_id`, as the client gets them."""
    told: set[str] = field(default_factory=set)
    """Message ids that an `error` output named."""
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
        for position, promise in enumerate(commit.promises):
            self.promised.setdefault(promise.id, (thread_id, commit.number, position))
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
        key = (message["type"], message.get("message_id", ""))
        known = self.told | self.parked
        return key[1] in known and key not in self.thread(message["thread_id"]).consumed

    def states(self) -> str:
        """What a fault meets: the threads in a few words."""
        return "; ".join(thread.state for thread in self.threads.values())

    def call_ids(self) -> set[str]:
        entries = (entry for thread in self.threads.values() for entry in thread.entries)
        return {entry["call_id"] for entry in entries if entry["kind"] == "tool_call"}
