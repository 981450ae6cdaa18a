"""One thread as the checker folds it, from the records of its commits."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from datetime import datetime

from core.clock import parse_iso

from .commits_seen import CommitSeen, Identity, Json


@dataclass(slots=True)
class ThreadFacts:
    """One thread, folded."""

    thread_id: str
    commits: list[CommitSeen] = field(default_factory=list)
    tip: int = 0
    marked: set[int] = field(default_factory=set)
    entries: list[Json] = field(default_factory=list)
    live: dict[str, Json] = field(default_factory=dict)
    passive: set[str] = field(default_factory=set)
    """Calls that only wait."""
    waits: dict[str, Json] = field(default_factory=dict)
    """By call id, what was said last of a live call: its instants, its question, its note."""
    questions: dict[str, Json] = field(default_factory=dict)
    """By call id, those that clients were told of, and not yet of their end."""
    covered: int = 0
    """Up to which seq a summary stands for the history."""
    owes: str | None = None
    wake: str | None = None
    wake_reason: str = ""
    wakes: list[str | None] = field(default_factory=list)
    """By commit, the wake that was waited for after it."""
    timer: str | None = None
    timer_due: str = ""
    deferred: list[str] = field(default_factory=list)
    children: dict[str, Json] = field(default_factory=dict)
    """The open ones, by thread id."""
    subscriptions: set[str] = field(default_factory=set)
    """By call id."""
    credit: int | None = None
    turns: int = 0
    blocked: bool = False
    """A compaction must be waited for."""
    closed: bool = False
    taken: dict[Identity, int] = field(default_factory=dict)
    """By input, the commit that took it in."""

    @property
    def last_seq(self) -> int:
        return len(self.entries)

    @property
    def origin(self) -> Json:
        """Where it comes from; nothing is said of a root."""
        return next((commit.origin for commit in self.log() if commit.origin), None) or {}

    @property
    def parent(self) -> str | None:
        return self.stack[-2] if len(self.stack) > 1 else None

    @property
    def stack(self) -> list[str]:
        return [*self.origin.get("ancestors", ()), self.thread_id]

    @property
    def working(self) -> set[str]:
        """The live calls that hold the thread."""
        return self.live.keys() - self.passive

    @property
    def idle(self) -> bool:
        """Whether nothing will happen here until somebody outside wants something new."""
        waits = self.owes or self.live or self.subscriptions or self.children or self.deferred
        return bool(self.commits) and not waits

    @property
    def state(self) -> str:
        """In a few words."""
        words = {
            "child" if self.parent else "": self.parent,
            "working": self.live,
            "owes": self.owes,
            f"waits ({self.wake_reason})": self.wake,
            "timer": self.timer,
            "deferred": self.deferred,
            "children": self.children,
            "subscribed": self.subscriptions,
            "unsettled": len(self.commits) - self.tip,
            "closed": self.closed,
        }
        return ", ".join(word for word, holds in words.items() if holds) or "at rest"

    def due(self) -> Iterator[datetime]:
        """Instants at which something must happen to it though nothing comes."""
        for call_id in self.live:
            said = self.waits.get(call_id, {})
            instants = (
                said.get("deadline_at"),
                said.get("until"),
                (said.get("question") or {}).get("expires_at"),
            )
            yield from (parse_iso(instant) for instant in instants if instant is not None)
        for child in self.children.values():
            if child.get("deadline_at") is not None:
                yield parse_iso(child["deadline_at"])

    def took(self, kind: str, message_id: str) -> int | None:
        """The commit that took this input in."""
        return self.taken.get((kind, message_id))

    def log(self, number: int | None = None) -> list[CommitSeen]:
        """The commits up to this one, from the last on that ended a log."""
        commits = self.commits[:number]
        ends = [index for index, commit in enumerate(commits) if commit.erases]
        return commits[ends[-1] if ends else 0 :]

    def live_after(self, number: int) -> set[str]:
        """Ids of the calls that were live after this commit."""
        entries = [entry for commit in self.log(number) for entry in commit.entries]
        called = {entry["call_id"] for entry in entries if entry["kind"] == "tool_call"}
        return called - {entry["call_id"] for entry in entries if entry["kind"] == "tool_result"}

    def apply(self, commit: CommitSeen) -> None:
        """Fold one more commit."""
        self.commits.append(commit)
        if commit.erases:
            self._forget()
        for entry in commit.entries:
            self.entries.append(entry)
            if entry["kind"] == "tool_call":
                self.live[entry["call_id"]] = entry
            elif entry["kind"] == "tool_result":
                self.live.pop(entry["call_id"], None)
        for one in commit.taken:
            self.taken.setdefault(one.identity, commit.number)
        for change in commit.changes:
            self._change(commit, change)
            self._change_children(change)
        for promise in commit.promised("question", "question_closed"):
            if promise.kind == "question":
                self.questions[promise.content["call_id"]] = promise.content["question"]
            else:
                self.questions.pop(promise.content["call_id"], None)
        if commit.base is not None:
            self.covered = commit.base["summary"]["up_to_seq"]
        self.wakes.append(self.wake)

    def _forget(self) -> None:
        """A log ends: what comes behind it starts with nothing but the numbers, and what was ever taken in."""
        fresh = ThreadFacts(self.thread_id)
        for one in fields(self):
            if one.name not in ("thread_id", "commits", "tip", "marked", "entries", "taken", "wakes"):
                setattr(self, one.name, getattr(fresh, one.name))
        self.covered = len(self.entries)

    def _change(self, commit: CommitSeen, change: Json) -> None:
        match change["op"]:
            case "owes":
                self.owes = change.get("to")
            case "wake_armed":
                self.wake, self.wake_reason = commit.promises[change["position"]].id, change["reason"]
            case "wake_cleared":
                self.wake = None
            case "timer_armed":
                self.timer, self.timer_due = commit.promises[change["position"]].id, change["due_at"]
            case "timer_cleared":
                self.timer, self.timer_due = None, ""
            case "deferred":
                self.deferred.append(change["deferred"]["message_id"])
            case "deferred_joined":
                del self.deferred[: change["count"]]
            case "credit":
                self.credit = change["tokens"]
            case "turns":
                self.turns = change["turns"]
            case "compacting":
                self.blocked = change["blocked"]
            case "call_opened":
                self.waits[change["call_id"]] = change
                if change.get("passive"):
                    self.passive.add(change["call_id"])
            case "closed":
                self.closed = True

    def _change_children(self, change: Json) -> None:
        match change["op"]:
            case "child_opened":
                self.children[change["child"]["thread_id"]] = change["child"]
            case "child_ended":
                self.children.pop(change["thread_id"], None)
            case "subscription_opened":
                self.subscriptions.add(change["subscription"]["call_id"])
            case "subscription_ended":
                self.subscriptions.discard(change["call_id"])
