"""Rules of the end: when faults have stopped and nothing is left to do, nobody waits for anything (*never stuck*)."""

from collections.abc import Iterator, Sequence

from core.ids import digest

from .commits_seen import CommitSeen, Json, Promise, identity_of
from .facts import Facts
from .scenario import FORK, REDRIVE
from .thread_facts import ThreadFacts

Broken = Iterator[str]


def broken_at_the_end(facts: Facts, said: Sequence[Json]) -> Broken:
    """`said`: the bodies that the client sent."""
    redriven = any(body["type"] == REDRIVE for body in said)
    for thread in list(facts.threads.values()):
        if thread.commits:
            yield from _at_rest(facts, thread)
            for promise in (promise for commit in thread.commits for promise in commit.promises):
                yield from _arrived(facts, thread, promise)
    for body in said:
        if body["type"] == FORK and not facts.thread(body["new_thread_id"]).commits:
            yield f"never stuck: {body} was never carried out"
        if body["type"] == "user_message":
            yield from _answered(facts, facts.thread(body["thread_id"]), body["message_id"])
            if redriven and identity_of(body) not in facts.thread(body["thread_id"]).taken:
                yield f"once: {body['message_id']} was sent again, but never taken in"


def _at_rest(facts: Facts, thread: ThreadFacts) -> Broken:
    left = {
        "live calls": sorted(thread.live),
        "a debt": thread.owes,
        "a wake": thread.wake,
        "a timer": thread.timer if not thread.closed else None,
        "deferred inputs": thread.deferred,
        "open children": sorted(thread.children),
        "an unsettled commit": len(thread.commits) - thread.tip,
    }
    for what, value in left.items():
        if value:
            yield f"never stuck: {thread.thread_id} is idle with {what}: {value}"
    for commit in thread.commits:
        for promise in facts.open_promises(commit):
            yield f"never stuck: {promise.kind} of commit {commit.number} was never sent"


def _arrived(facts: Facts, thread: ThreadFacts, promise: Promise) -> Broken:
    """A child that was spawned exists, and closed ones are closed; what threads told each other was heard."""
    content = promise.content
    match promise.kind:
        case "spawn":
            child = facts.thread(content["thread_id"])
            if not child.commits:
                yield f"never stuck: {child.thread_id} was spawned, but never began"
            elif not child.closed and content["thread_id"] not in thread.children:
                yield f"never stuck: {child.thread_id} goes on, but its parent knows nothing of it"
        case "close":
            child = facts.thread(content["thread_id"])
            if child.commits and not child.closed:
                yield f"never stuck: {child.thread_id} was to close, but is open"
        case "thread_report":
            yield from _heard(facts.thread(content["parent"]), promise, silent=content.get("text") is None)
        case "parent_message":
            yield from _taken_or_given_back(facts, thread, promise)


def _taken_or_given_back(facts: Facts, sender: ThreadFacts, told: Promise) -> Broken:
    """What a parent says reaches its child; or it comes back as a report, unless the parent is closed by then."""
    child = facts.thread(told.content["thread_id"])
    back = digest("returned", child.thread_id, told.id)
    taken = child.took("parent_message", told.id) or sender.took("thread_report", back)
    if taken is None and not sender.closed:
        yield f"once: {told.id} reached neither {child.thread_id} nor, as a report, its sender"


def _heard(parent: ThreadFacts, report: Promise, *, silent: bool) -> Broken:
    """Once, as an entry unless it says nothing; or the parent is closed."""
    events = [
        entry for entry in parent.entries if entry["kind"] == "event" and entry["message_id"] == report.id
    ]
    taken = parent.took("thread_report", report.id)
    if taken is None and not parent.closed:
        yield f"never stuck: {parent.thread_id} never heard the report {report.id}"
    if taken is not None and len(events) != (0 if silent else 1):
        yield f"once: {parent.thread_id} took {report.id} in, and shows it {len(events)} times"


def _answered(facts: Facts, thread: ThreadFacts, message_id: str) -> Broken:
    """The text was refused and that was told; or it is in history, and an answer or a told end comes after it."""
    taken_in = thread.took("user_message", message_id)
    if taken_in is None:
        if message_id not in facts.told:
            yield f"never stuck: user message {message_id} was neither taken in nor refused"
        return
    if any(commit.erases for commit in thread.commits[taken_in:]):
        return
    if not any(entry.get("message_id") == message_id and entry["kind"] == "user" for entry in thread.entries):
        yield f"once: user message {message_id} was taken in, but is not in history"
    if not any(_ends_a_debt(commit) for commit in thread.commits[taken_in - 1 :]):
        yield f"never stuck: user message {message_id} was never answered"


def _ends_a_debt(commit: CommitSeen) -> bool:
    answered = any(p.kind == "assistant_message" and p.content["final"] for p in commit.promises)
    failed = any(entry["kind"] == "turn_end" for entry in commit.entries)
    return answered or failed or commit.changed("closed") is not None
