"""One commit as the checker sees it: its record taken apart, with the inputs that it took in.

Read from JSON, as a stranger would. Nothing here is shared with the product but the derivation of ids.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.commit import Commit, commit_record
from core.ids import digest, outbox_id

Json = Mapping[str, Any]
Key = tuple[str, str]
"""Type and message id under which a commit says that it took an input in."""
Identity = tuple[str, ...]
"""What makes an input the same as another, however it was recorded."""

MARKED = (
    "user_message",
    "cancel",
    "close",
    "subscription_event",
    "thread_report",
    "parent_message",
    "question",
    "answer",
    "compact",
)
TURN_KINDS = ("assistant", "reasoning", "tool_call")
OUTPUTS = (
    "assistant_message",
    "tool_started",
    "error",
    "thread_spawned",
    "thread_closed",
    "compacted",
    "question",
    "question_closed",
)
BETWEEN_THREADS = ("spawn", "parent_message", "close", "thread_report", "compaction_done")


@dataclass(frozen=True, slots=True)
class Promise:
    """One message of a commit's outbox."""

    id: str
    kind: str
    queue: str
    content: Json

    @property
    def ends_a_child(self) -> bool:
        """Whether it tells a parent the end of its child."""
        return self.kind == "compaction_done" or (self.kind == "thread_report" and self.content["closing"])


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Who wrote a commit, and when."""

    by: str
    """The invocation."""
    visit: int
    """Which load it goes back to, counted over the run."""
    completing: bool
    deployment: int
    """Whose code it was."""
    accepted_at: datetime
    """When that visit took its inputs in."""
    attempt: int
    """Of the last completion before it, counted over slices."""
    tokens: int
    """What that completion cost."""
    routing_attempt: int
    """Of the last choice of a route; 0: none was made."""
    routing_tokens: int
    """What it cost; 0: nobody answered."""
    given: tuple[str, ...]
    """The bodies of the invocation's records, those of this thread."""


@dataclass(frozen=True, slots=True)
class TakenIn:
    """One input that a commit says it took in; the body is the one that was given under that id, empty for none."""

    key: Key
    digest: str
    body: Json

    @property
    def kind(self) -> str:
        return str(self.body.get("type", self.key[0]))

    @property
    def message_id(self) -> str:
        return str(self.body.get("message_id") or self.key[1])

    @property
    def identity(self) -> Identity:
        return identity_of(self.body, self.key[1]) if self.body else self.key

    @property
    def speaks(self) -> bool:
        """Whether what it says becomes an entry of this thread, at once or later, and is owed an answer."""
        match self.kind:
            case "user_message" | "parent_message":
                return True
            case "subscription_event":
                return not self.goes_apart
            case "thread_report":
                return self.body.get("text") is not None
            case _:
                return False

    @property
    def goes_apart(self) -> bool:
        """Whether a child deals with it."""
        return self.kind == "subscription_event" and not self.body.get("associative", False)

    @property
    def ends_a_child(self) -> bool:
        return self.kind == "compaction_done" or bool(
            self.kind == "thread_report" and self.body.get("closing")
        )

    @property
    def said(self) -> list[Json]:
        """What it says, as content."""
        text = self.body.get("content", self.body.get("text"))
        return [{"type": "text", "text": text}]


def identity_of(body: Json, transport_id: str = "") -> Identity:
    """An event is known by its call and `event_id`, if it has one, everything else by type and message id."""
    if body["type"] == "subscription_event" and body.get("event_id") is not None:
        return ("subscription_event", str(body["call_id"]), str(body["event_id"]))
    return (str(body["type"]), str(body.get("message_id") or transport_id))


def _keys_of(body: Json) -> Iterator[Key]:
    """What a commit may call it."""
    kind, message_id = body.get("type", ""), body.get("message_id") or ""
    yield kind, message_id
    if kind == "subscription_event" and body.get("event_id") is not None:
        yield kind, digest(body["call_id"], body["event_id"])
    if kind == "thread_report" and body.get("closing"):
        yield "thread_end", message_id


@dataclass(frozen=True, slots=True)
class CommitSeen:
    """One commit of a log, as its record says."""

    number: int
    digest: str
    at: datetime
    first_seq: int
    entries: tuple[Json, ...]
    taken: tuple[TakenIn, ...]
    changes: tuple[Json, ...]
    promises: tuple[Promise, ...]
    origin: Json | None
    base: Json | None
    carried: tuple[Json, ...] | None
    """Entries of earlier commits, for readers that start here; None if they cannot."""
    erases: bool
    """Whether it ends the log before it."""
    made: Circumstances

    @property
    def is_base(self) -> bool:
        return self.base is not None

    @property
    def by(self) -> str:
        return self.made.by

    @property
    def consumed(self) -> list[Key]:
        return [one.key for one in self.taken]

    @property
    def marked_inputs(self) -> bool:
        return any(kind in MARKED for kind, _ in self.consumed)

    @property
    def spawn_id(self) -> str | None:
        """Message id of the spawn by which the thread begins here."""
        return next((one.message_id for one in self.taken if one.kind == "spawn"), None)

    @property
    def opening(self) -> list[Json]:
        """The entries that a spawn begins the thread with."""
        spawn_id = self.spawn_id
        return [e for e in self.entries if spawn_id is not None and e.get("message_id") == spawn_id]

    @property
    def own_entries(self) -> list[Json]:
        """Those that the thread made or was told since."""
        spawn_id = self.spawn_id
        return [e for e in self.entries if spawn_id is None or e.get("message_id") != spawn_id]

    @property
    def has_turn(self) -> bool:
        """Whether it holds what a model said."""
        return any(entry["kind"] in TURN_KINDS for entry in self.own_entries)

    @property
    def failed(self) -> bool:
        return any(entry["kind"] == "turn_end" and entry["reason"] == "failed" for entry in self.entries)

    def changed(self, op: str) -> Json | None:
        """The last change of this kind."""
        return next((change for change in reversed(self.changes) if change["op"] == op), None)

    def promised(self, *kinds: str) -> list[Promise]:
        return [promise for promise in self.promises if promise.kind in kinds]

    def opened(self) -> list[Json]:
        """Children that this commit opens."""
        return [change["child"] for change in self.changes if change["op"] == "child_opened"]

    def ended(self) -> list[str]:
        """Children that are open no more."""
        return [change["thread_id"] for change in self.changes if change["op"] == "child_ended"]

    def answers(self, call_id: str) -> bool:
        return any(e["kind"] == "tool_result" and e["call_id"] == call_id for e in self.entries)


def seen(commit: Commit, made: Circumstances) -> CommitSeen:
    """The commit's record, taken apart."""
    record = json.loads(json.dumps(commit_record(commit)))
    outbox = record.get("outbox", ())
    first = record["first_seq"]
    given: dict[Key, Json] = {}
    for body in map(json.loads, made.given):
        for key in _keys_of(body):
            given.setdefault(key, body)  # of two with one identity the first is taken in
    return CommitSeen(
        number=record["number"],
        digest=commit.digest,
        at=commit.at,
        first_seq=first,
        entries=tuple({**entry, "seq": first + i} for i, entry in enumerate(record.get("entries", ()))),
        taken=tuple(_taken(taken, given) for taken in record.get("consumed", ())),
        changes=tuple(record.get("changes", ())),
        promises=tuple(_promise(commit, position, message) for position, message in enumerate(outbox)),
        origin=record.get("origin"),
        base=record.get("base"),
        carried=tuple(record["checkpoint"]["carried"]) if "checkpoint" in record else None,
        erases="erased" in record,
        made=made,
    )


def _taken(record: Json, given: Mapping[Key, Json]) -> TakenIn:
    key = (record["type"], record["message_id"])
    return TakenIn(key, record["body_digest"], given.get(key, {}))


def _promise(commit: Commit, position: int, message: Json) -> Promise:
    sent_as = outbox_id(commit.thread_id, commit.digest, position)
    match message["kind"]:
        case "carried":
            return Promise(message["id"], "carried", message["queue"], message)
        case "tool_call" | "tool_cancel" | "tool_answer" as kind:
            return Promise(sent_as, kind, f"worker:{message['worker']}", message)
        case "wake" | "timer" as kind:
            return Promise(sent_as, kind, "delay" if message.get("due_at") else "input", message)
        case kind if kind in BETWEEN_THREADS:
            return Promise(sent_as, kind, "input", message)
        case kind if kind in OUTPUTS:
            return Promise(sent_as, kind, "output", message)
        case kind:
            return Promise(sent_as, kind, kind, message)
