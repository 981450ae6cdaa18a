"""Rules of content: a commit says of its inputs what they said, and of its turn what it cost and whom it concerns.

Apart from the rules of the log, which hold for commits whatever is in them.
"""

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from .commits_seen import TURN_KINDS, CommitSeen, Json, TakenIn
from .facts import Facts
from .thread_facts import ThreadFacts

Broken = Iterator[str]


def broken_by_content(facts: Facts, thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """What this commit, the next of its thread, says wrongly."""
    for one in commit.taken:
        if one.speaks:
            yield from _as_said(thread, commit, one)
        elif one.kind == "tool_result":
            yield from _as_answered(facts, thread, commit, one.message_id)
    yield from _interrupts_only_if_asked(thread, commit)
    yield from _given_up(facts, commit)
    yield from _opened(commit)
    yield from _one_turn(commit)
    yield from _owed_to_the_newest(thread, commit)


def metadata_at(thread: ThreadFacts, number: int) -> dict[str, Any]:
    """A root's metadata after this commit."""
    return {
        key: value
        for commit in thread.log(number)
        for change in commit.changes
        if change["op"] == "metadata"
        for key, value in change["values"].items()
    }


def _as_said(thread: ThreadFacts, commit: CommitSeen, one: TakenIn) -> Broken:
    """The text is the one that was said; it waits only for live calls, and only if it does not interrupt them."""
    waiting = [c["deferred"] for c in commit.changes if c["op"] == "deferred"]
    deferred = [each["entry"] for each in waiting if each["message_id"] == one.message_id]
    shown = [
        e for e in commit.own_entries if e["kind"] in ("user", "event") and e["message_id"] == one.message_id
    ]
    if any(entry["content"] != one.said for entry in (*deferred, *shown)):
        yield f"once: {one.message_id} said {one.said}, but {[*deferred, *shown]} was taken in"
    calls = {entry["call_id"] for entry in (*deferred, *shown) if entry["kind"] == "event"}
    if calls - {one.body.get("call_id")}:
        yield f"once: {one.message_id} is of {one.body.get('call_id')}, but was taken in for {sorted(calls)}"
    if deferred and (_may_interrupt(commit, one) or not thread.working):
        yield f"deferral: {one.message_id} was deferred, though it interrupts or nothing is live"


def _may_interrupt(commit: CommitSeen, one: TakenIn) -> bool:
    """Whether it need not wait for calls that do not only wait themselves."""
    if one.kind == "user_message":
        return commit.made.completing and one.body.get("on_busy") != "queue"
    return one.kind in ("cancel", "close")


def _interrupts_only_if_asked(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    interrupted = [e["call_id"] for e in commit.entries if _interrupts(e) and e["call_id"] in thread.working]
    if interrupted and not any(_may_interrupt(commit, one) for one in commit.taken):
        yield f"deferral: {commit.consumed} interrupt {interrupted}, though they are to wait (by {commit.by})"


def _interrupts(entry: Json) -> bool:
    return bool(entry["kind"] == "tool_result" and entry["outcome"] == "interrupted")


def _as_answered(facts: Facts, thread: ThreadFacts, commit: CommitSeen, message_id: str) -> Broken:
    """The result is the recorded one, after what the model is to be told of it."""
    for entry in commit.entries:
        if entry["kind"] == "tool_result" and entry.get("message_id") == message_id:
            answer = json.loads(facts.answers.get(entry["call_id"], "{}"))
            outcome = answer.get("outcome") or ("error" if answer.get("is_error") else "ok")
            note = thread.waits.get(entry["call_id"], {}).get("note")
            told = [{"type": "text", "text": note}] if note else []
            if (entry["content"], entry["outcome"]) != ([*told, *answer.get("content", ())], outcome):
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
    kinds = ["", *(entry["kind"] for entry in commit.own_entries)]
    begun = sum(kind in TURN_KINDS and before not in TURN_KINDS for before, kind in pairwise(kinds))
    if begun > 1:
        yield f"atomic commit: commit {commit.number} holds {begun} rounds"
    if begun and not commit.made.completing:
        yield f"dead letters: {commit.by} made a completion"


def _owed_to_the_newest(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """Whatever is owed after something was said is owed to the newest of it."""
    said = [one.message_id for one in commit.taken if one.speaks or one.kind == "spawn"]
    change = commit.changed("owes")
    to = change.get("to") if change is not None else thread.owes
    if said and to is not None and to != said[-1]:
        yield f"never stuck: owed to {to} after {said} were taken in"
