"""Rules of waiting: timers, sleeps, questions and compactions, of which each comes to its end, and to one only."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from core.clock import parse_iso

from .commits_seen import CommitSeen, Json
from .facts import Facts
from .thread_facts import ThreadFacts
from .tools import APPROVED_FIRST

Broken = Iterator[str]


def broken_by_waiting(facts: Facts, thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """What this commit, the next of its thread, does wrongly to what is waited for."""
    yield from _questions(thread, commit)
    yield from _sent_as_approved(thread, commit)
    yield from _run_unapproved(thread, commit)
    yield from _slept(thread, commit)
    yield from _compacts(facts, thread, commit)
    yield from _timer_used_once(thread, commit)


def broken_by_forgetting(thread: ThreadFacts) -> Broken:
    """Whatever has an end of its own has a timer that comes in time; nobody waits for a compaction that is not."""
    due = min(thread.due(), default=None)
    if due is not None and not thread.closed and (thread.timer is None or parse_iso(thread.timer_due) > due):
        yield f"never stuck: {thread.thread_id} needs a timer for {due}, and has {thread.timer_due or 'none'}"
    compacting = [child for child in thread.children.values() if child["kind"] == "compaction"]
    if len(compacting) > 1:
        yield f"compaction: {thread.thread_id} has {len(compacting)} under way"
    if thread.blocked and not compacting and not thread.closed:
        yield f"never stuck: {thread.thread_id} waits for a compaction, and none is under way"
    if open_ones := thread.questions.keys() - thread.live.keys():
        yield f"questions: those about {sorted(open_ones)} stay open, and the calls are answered"
    asked = {call_id for call_id in thread.live if thread.waits.get(call_id, {}).get("question")}
    if asked != thread.questions.keys() & thread.live.keys():
        yield f"questions: {sorted(asked)} wait for people, who were asked about {sorted(thread.questions)}"


RECORDED = timedelta(milliseconds=1)
"""How exactly a commit says when it was made."""


def _questions(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """Each is asked once about a live call, and closed once, for the reason that is told."""
    asked = dict(thread.questions)
    live = thread.live.keys() | {e["call_id"] for e in commit.entries if e["kind"] == "tool_call"}
    for promise in commit.promised("question", "question_closed"):
        call_id = promise.content["call_id"]
        if promise.kind == "question":
            if call_id in asked or call_id not in live:
                yield f"questions: {promise.content} is asked, with {sorted(asked)} open and {sorted(live)} live"
            asked[call_id] = promise.content["question"]
        elif call_id not in asked:
            yield f"questions: {promise.content} is closed, but was not open"
        else:
            yield from _closed_truly(commit, asked.pop(call_id), promise.content)


def _closed_truly(commit: CommitSeen, question: Json, closed: Json) -> Broken:
    answers = [
        one for one in commit.taken if one.kind == "answer" and one.body["call_id"] == closed["call_id"]
    ]
    results = [e for e in commit.entries if e["kind"] == "tool_result" and e["call_id"] == closed["call_id"]]
    timer = any(one.kind == "timer" for one in commit.taken)
    true = {
        "answered": bool(answers) and all(e["outcome"] not in ("interrupted", "timed_out") for e in results),
        "expired": timer and parse_iso(question["expires_at"]) < commit.at + RECORDED and not answers,
        "interrupted": bool(results) and results[0]["outcome"] != "timed_out" and not answers,
    }
    if not true[closed["outcome"]]:
        yield f"questions: {closed} is told, after {commit.consumed} and with {results}"


def _sent_as_approved(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """Only what was approved is sent, as it was shown or with the person's own arguments; and the model is told."""
    answers = {one.body["call_id"]: one.body for one in reversed(commit.taken) if one.kind == "answer"}
    for promise in commit.promised("tool_call"):
        call_id = promise.content["call_id"]
        if call_id not in thread.questions:
            if call_id in thread.live:
                yield f"questions: {call_id} is sent to its worker again"
            continue
        shown, given = thread.live[call_id]["args"], answers.get(call_id, {})
        approved = shown if given.get("args") is None else given["args"]
        if given.get("approved") is not True or promise.content["args"] != approved:
            yield f"questions: {promise.content} is sent after {given}, though {shown} was to be approved"
        if bool(_said_of(commit, call_id).get("note")) != (approved != shown):
            yield f"questions: {shown} is run as {approved}, and the model is told {_said_of(commit, call_id)}"


def _run_unapproved(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """No call that needs an approval is sent or run in the commit that makes it."""
    needing = {
        entry["call_id"]
        for entry in commit.entries
        if entry["kind"] == "tool_call" and entry["name"] in APPROVED_FIRST
    }
    sent = {promise.content["call_id"] for promise in commit.promised("tool_call")}
    ran = {e["call_id"] for e in commit.entries if e["kind"] == "tool_result" and e["outcome"] == "ok"}
    if needing & (sent | ran):
        yield f"questions: {sorted(needing & (sent | ran))} of {thread.thread_id} are run before anybody is asked"


def _said_of(commit: CommitSeen, call_id: str) -> Json:
    said: list[Json] = [c for c in commit.changes if c["op"] == "call_opened" and c["call_id"] == call_id]
    return said[-1] if said else {}


def _slept(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """What only waits ends when its time has come, or when something else does: not before, and never by nothing."""
    for entry in commit.entries:
        if entry["kind"] != "tool_result" or entry["call_id"] not in thread.passive & thread.live.keys():
            continue
        until = thread.waits[entry["call_id"]].get("until")
        over = until is not None and parse_iso(until) <= commit.at
        if entry["outcome"] == "ok" and not (over and any(one.kind == "timer" for one in commit.taken)):
            yield f"timers: {entry['call_id']} waits until {until}, but ends at {commit.at}"
        others = any(
            e["kind"] == "tool_result" and e["call_id"] not in thread.passive for e in commit.entries
        )
        if entry["outcome"] == "interrupted" and not (commit.taken or others):
            yield f"timers: {entry['call_id']} is woken by nothing"


def _timer_used_once(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """Only the timer that is waited for does anything."""
    for one in commit.taken:
        if one.kind == "timer" and one.message_id != thread.timer:
            yield f"timers: {one.message_id} is taken in, but {thread.timer} is waited for"


def _compacts(facts: Facts, thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """A summary comes from the one compaction under way, says what that said, and covers what that was shown."""
    for child in commit.opened():
        if child["kind"] == "compaction":
            yield from _begins_to_compact(thread, commit, child)
    done = [one.body for one in commit.taken if one.kind == "compaction_done"]
    ended = [thread.children[b["child_thread_id"]] for b in done if b["child_thread_id"] in thread.children]
    texts = [body["text"] for body in done if body.get("text")]
    summary: Any = (commit.base or {}).get("summary")
    if (summary is not None) != bool(texts) or len(commit.promised("compacted")) != len(texts):
        yield f"compaction: {done} is taken in, and the summary of commit {commit.number} is {summary}"
        return
    if summary is not None:
        (covered,) = [child["up_to_seq"] for child in ended]
        if (summary["text"], summary["up_to_seq"]) != (texts[0].strip(), covered):
            yield f"compaction: {summary} stands for what {texts} summarises up to {covered}"
        told = [promise.content["up_to_seq"] for promise in commit.promised("compacted")]
        if told != [covered] or covered < thread.covered:
            yield f"compaction: {told} is told, {covered} covered, {thread.covered} was covered before"


def _begins_to_compact(thread: ThreadFacts, commit: CommitSeen, child: Json) -> Broken:
    ended = set(commit.ended())
    others = [
        c for c in thread.children.values() if c["kind"] == "compaction" and c["thread_id"] not in ended
    ]
    if others:
        yield f"compaction: {child['thread_id']} begins while {others} is under way"
    if child.get("deadline_at") is None:
        yield f"never stuck: the compaction {child['thread_id']} has no deadline"
    lineage = [
        ancestor["cutoff_seq"]
        for promise in commit.promised("spawn")
        if promise.content["thread_id"] == child["thread_id"]
        for ancestor in promise.content.get("lineage", ())
        if ancestor["thread_id"] == thread.thread_id
    ]
    if lineage not in ([child["up_to_seq"]], [] if child["up_to_seq"] == 0 else None):
        yield f"compaction: {child} is shown {thread.thread_id} up to {lineage}"
