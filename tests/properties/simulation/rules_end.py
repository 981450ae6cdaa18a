"""Rules of the end: when faults have stopped and nothing is left to do, nobody waits for anything (*never stuck*)."""

from collections.abc import Iterable, Iterator

from .facts import CommitSeen, Facts, Json, ThreadFacts

Broken = Iterator[str]


def broken_at_the_end(facts: Facts, said: Iterable[Json]) -> Broken:
    """`said`: the bodies that the client sent."""
    for thread in facts.threads.values():
        if thread.commits:
            yield from _at_rest(facts, thread)
    for body in said:
        if body.get("type") == "user_message":
            yield from _answered(facts, facts.thread(body["thread_id"]), body["message_id"])


def _at_rest(facts: Facts, thread: ThreadFacts) -> Broken:
    left = {
        "live calls": sorted(thread.live),
        "a debt": thread.owes,
        "a wake": thread.wake,
        "a timer": thread.timer if not thread.closed else None,
        "deferred inputs": thread.deferred,
        "an unsettled commit": len(thread.commits) - thread.tip,
    }
    for what, value in left.items():
        if value:
            yield f"never stuck: {thread.thread_id} is idle with {what}: {value}"
    for commit in thread.commits:
        for promise in facts.open_promises(commit):
            yield f"never stuck: {promise.kind} of commit {commit.number} was never sent"


def _answered(facts: Facts, thread: ThreadFacts, message_id: str) -> Broken:
    """The text was refused and that was told; or it is in history, and an answer or a told end comes after it."""
    taken_in = thread.consumed.get(("user_message", message_id))
    if taken_in is None:
        if message_id not in facts.told:
            yield f"never stuck: user message {message_id} was neither taken in nor refused"
        return
    if not any(entry.get("message_id") == message_id and entry["kind"] == "user" for entry in thread.entries):
        yield f"once: user message {message_id} was taken in, but is not in history"
    if not any(_ends_a_debt(commit) for commit in thread.commits[taken_in - 1 :]):
        yield f"never stuck: user message {message_id} was never answered"


def _ends_a_debt(commit: CommitSeen) -> bool:
    answered = any(p.kind == "assistant_message" and p.content["final"] for p in commit.promises)
    failed = any(entry["kind"] == "turn_end" for entry in commit.entries)
    return answered or failed or commit.changed("closed") is not None
