"""Rules of content: a commit says of its inputs what they said, and of its turn what it cost and whom it concerns.

Apart from the rules of the log, which hold for commits whatever is in them.
"""

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from .facts import TURN_KINDS, CommitSeen, Facts, Json, ThreadFacts

Broken = Iterator[str]


def broken_by_content(facts: Facts, thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """What this commit, the next of its thread, says wrongly."""
    for kind, message_id in commit.consumed:
        if kind == "user_message":
            yield from _as_said(thread, commit, message_id)
        elif kind == "tool_result":
            yield from _as_answered(facts, commit, message_id)
    yield from _given_up(facts, commit)
    yield from _opened(commit)
    yield from _one_turn(commit)
    yield from _spent(thread, commit)
    yield from _owed_to_the_newest(thread, commit)


def metadata_at(thread: ThreadFacts, number: int) -> dict[str, Any]:
    """A root's metadata after this commit."""
    return {
        key: value
        for commit in thread.commits[:number]
        for change in commit.changes
        if change["op"] == "metadata"
        for key, value in change["values"].items()
    }


def _as_said(thread: ThreadFacts, commit: CommitSeen, message_id: str) -> Broken:
    """The text is the one that was said; it waits for live calls, or interrupts them, as it asked to."""
    bodies = [json.loads(body) for body in commit.made.given]
    said = [body for body in bodies if body.get("message_id") == message_id]
    waiting = [c["deferred"] for c in commit.changes if c["op"] == "deferred"]
    deferred = [one["entry"] for one in waiting if one["message_id"] == message_id]
    shown = [e for e in commit.entries if e["kind"] == "user" and e["message_id"] == message_id]
    texts = [[{"type": "text", "text": body["content"]}] for body in said]
    if any(entry["content"] not in texts for entry in (*deferred, *shown)):
        yield f"once: {message_id} said {texts}, but {[*deferred, *shown]} was taken in"
    queues = not commit.made.completing or any(body.get("on_busy") == "queue" for body in said)
    if deferred and (not queues or not thread.live):
        yield f"deferral: {message_id} was deferred, though it interrupts or nothing is live"
    asked = any(kind in ("cancel", "close") for kind, _ in commit.consumed)
    if queues and not asked and any(_interrupts(entry) for entry in commit.entries):
        yield f"deferral: {message_id} interrupts, though it is to wait (by {commit.by})"


def _interrupts(entry: Json) -> bool:
    return bool(entry["kind"] == "tool_result" and entry["outcome"] == "interrupted")


def _as_answered(facts: Facts, commit: CommitSeen, message_id: str) -> Broken:
    """The result is the recorded one."""
    for entry in commit.entries:
        if entry["kind"] == "tool_result" and entry.get("message_id") == message_id:
            answer = json.loads(facts.answers.get(entry["call_id"], "{}"))
            outcome = answer.get("outcome") or ("error" if answer.get("is_error") else "ok")
            if (entry["content"], entry["outcome"]) != (answer.get("content"), outcome):
                yield f"once: {entry['call_id']} was answered with {answer}, but {entry} was taken in"


def _given_up(facts: Facts, commit: CommitSeen) -> Broken:
    """A worker is told when nobody waits for its call any more."""
    cancelled = {p.content["call_id"] for p in commit.promises if p.kind == "tool_cancel"}
    for entry in commit.entries:
        if entry["kind"] != "tool_result" or entry.get("message_id") is not None:
            continue
        given_up = entry["outcome"] in ("interrupted", "timed_out") and entry["call_id"] in facts.deadlines
        if given_up and entry["call_id"] not in cancelled:
            yield f"interruption: {entry['call_id']} is {entry['outcome']}, and its worker is not told"


def _opened(commit: CommitSeen) -> Broken:
    """What goes to a worker is told to the client."""
    sent, told = (
        {p.content["call_id"] for p in commit.promises if p.kind == kind}
        for kind in ("tool_call", "tool_started")
    )
    if sent != told:
        yield f"atomic commit: calls {sorted(sent)} go to workers, but {sorted(told)} are told"


def _one_turn(commit: CommitSeen) -> Broken:
    """Each round is committed before the next, so that no completion is paid for twice; dead letters make none."""
    kinds = ["", *(entry["kind"] for entry in commit.entries)]
    begun = sum(kind in TURN_KINDS and before not in TURN_KINDS for before, kind in pairwise(kinds))
    if begun > 1:
        yield f"atomic commit: commit {commit.number} holds {begun} rounds"
    if begun and not commit.made.completing:
        yield f"dead letters: {commit.by} made a completion"


def _spent(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """A finished turn is counted once, and its tokens are spent; user text begins anew."""
    texts = any(kind == "user_message" for kind, _ in commit.consumed)
    failed = any(e["kind"] == "turn_end" and e["reason"] == "failed" for e in commit.entries)
    turn = any(e["kind"] in TURN_KINDS for e in commit.entries) and not failed
    turns, credit = (_last(thread, op, what) for op, what in (("turns", "turns"), ("credit", "tokens")))
    used, left = commit.changed("turns"), commit.changed("credit")
    after = used["turns"] if used else turns or 0
    if after != (0 if texts else turns or 0) + turn:
        yield f"limits: {after} turns after commit {commit.number}, {turns} before (user text: {texts})"
    spends = left is not None and (credit is None or left["tokens"] < credit)
    if turn and not texts and not spends:
        yield f"limits: the turn of commit {commit.number} spends nothing"


def _last(thread: ThreadFacts, op: str, what: str) -> int | None:
    changes = (commit.changed(op) for commit in reversed(thread.commits))
    return next((int(change[what]) for change in changes if change is not None), None)


def _owed_to_the_newest(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """Whatever is owed after user text was taken in is owed to the newest of it."""
    texts = [message_id for kind, message_id in commit.consumed if kind == "user_message"]
    change = commit.changed("owes")
    to = change.get("to") if change is not None else thread.owes
    if texts and to is not None and to != texts[-1]:
        yield f"never stuck: owed to {to} after {texts} were taken in"
