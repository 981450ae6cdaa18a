"""Rules of the log: what a commit may be, given everything durable before it. Each yields what is broken, by name."""

from collections.abc import Iterator

from .commits_seen import TURN_KINDS, CommitSeen, Json
from .facts import Facts
from .rules_content import broken_by_content
from .rules_credit import broken_by_spending
from .rules_routing import broken_by_routing
from .rules_state import broken_by_state
from .rules_tree import broken_by_tree
from .rules_waiting import broken_by_waiting
from .thread_facts import ThreadFacts

Broken = Iterator[str]


def broken_by_commit(facts: Facts, thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """Everything that is wrong with this commit as the next of its thread."""
    yield from _numbered(facts, thread, commit)
    yield from _carries_all(thread, commit)
    yield from _taken_once(thread, commit)
    yield from _inputs_are_entries(thread, commit)
    yield from broken_by_content(facts, thread, commit)
    yield from broken_by_spending(facts, thread, commit)
    yield from broken_by_routing(thread, commit)
    yield from broken_by_state(thread, commit)
    yield from broken_by_tree(facts, thread, commit)
    yield from broken_by_waiting(facts, thread, commit)
    yield from _answered_once(facts, thread, commit)
    yield from _turns_are_due(thread, commit)
    yield from _debts_end_told(thread, commit)
    yield from _settled_before(facts, thread, commit)


def broken_by_rewriting(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """A number that is taken may only be written again with the same content."""
    there = thread.commits[commit.number - 1]
    if there.digest != commit.digest:
        yield f"one writer: commit {commit.number} was written over (by {there.by}, then {commit.by})"


def _numbered(facts: Facts, thread: ThreadFacts, commit: CommitSeen) -> Broken:
    if facts.closed:
        yield f"once: commit {commit.number}, days after everything came to its end, of {commit.consumed}"
    if commit.number != len(thread.commits) + 1:
        yield f"append-only: commit {commit.number} after {len(thread.commits)}"
    if commit.first_seq != thread.last_seq + 1:
        yield f"append-only: entries from {commit.first_seq} on after {thread.last_seq}"
    if thread.closed and (commit.entries or not all(one.kind == "wake" for one in commit.taken)):
        yield f"append-only: {thread.thread_id} is closed, and takes in {commit.consumed}"


def _carries_all(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """Readers that start at a checkpoint find what no summary covers, and nothing else."""
    if commit.carried is None:
        return
    carried = [{key: value for key, value in entry.items() if key != "at"} for entry in commit.carried]
    uncovered = thread.entries[thread.covered :]
    if carried != uncovered:
        yield f"append-only: commit {commit.number} carries {carried}, but {uncovered} is not covered"


def _taken_once(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    for one in commit.taken:
        if not one.body:
            yield f"once: {one.key} is consumed by commit {commit.number}, but was not given"
        if one.identity in thread.taken:
            yield f"once: {one.identity} is consumed by commits {thread.taken[one.identity]} and {commit.number}"
    if len({one.identity for one in commit.taken}) != len(commit.taken):
        yield f"once: commit {commit.number} consumes an input twice"


def _inputs_are_entries(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """What is said is an entry or waits to be one, in order; a result answers its call; there is nothing else."""
    taken = [one.message_id for one in commit.taken if one.speaks]
    deferred = [c["deferred"]["message_id"] for c in commit.changes if c["op"] == "deferred"]
    shown = [entry["message_id"] for entry in commit.own_entries if entry["kind"] in ("user", "event")]
    joined = commit.changed("deferred_joined")
    waited = [*thread.deferred, *deferred][: joined["count"] if joined else 0]
    if [*waited, *(message_id for message_id in taken if message_id not in deferred)] != shown:
        yield f"once: entries of {shown}, but taken in {taken}, of which {deferred} wait, {waited} joined"
    results = {entry["message_id"] for entry in commit.own_entries if _from_outside(entry)}
    if results != {one.message_id for one in commit.taken if one.kind == "tool_result"}:
        yield f"once: results of {sorted(results)} are not those consumed by commit {commit.number}"


def _from_outside(entry: Json) -> bool:
    return entry["kind"] == "tool_result" and entry.get("message_id") is not None


def _answered_once(facts: Facts, thread: ThreadFacts, commit: CommitSeen) -> Broken:
    live, known = set(thread.live), set(facts.calls)
    for entry in commit.own_entries:
        if entry["kind"] == "tool_call":
            if entry["call_id"] in known:
                yield f"derived ids: call id {entry['call_id']} is used twice"
            known.add(entry["call_id"])
            live.add(entry["call_id"])
        elif entry["kind"] == "tool_result":
            if entry["call_id"] not in live:
                yield f"once: entry {entry['seq']} answers {entry['call_id']}, which is not live"
            live.discard(entry["call_id"])


def _turns_are_due(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """A turn begins only where an answer is owed and no call is live; nothing said joins where one is."""
    live = set(thread.live)
    inputs = any(one.speaks or one.kind == "spawn" for one in commit.taken)
    in_turn = False
    for entry in commit.own_entries:
        begins = entry["kind"] in TURN_KINDS and not in_turn
        in_turn = entry["kind"] in TURN_KINDS
        if begins and live:
            yield f"well-formed: a turn begins at {entry['seq']} while {sorted(live)} are live"
        if begins and thread.owes is None and not inputs:
            yield f"never stuck: a turn at {entry['seq']}, but nothing was owed"
        if entry["kind"] in ("user", "event") and live:
            yield f"deferral: {entry['message_id']} joins at {entry['seq']} while {sorted(live)} are live"
        if entry["kind"] == "tool_call":
            live.add(entry["call_id"])
        elif entry["kind"] == "tool_result":
            live.discard(entry["call_id"])


def _debts_end_told(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """When nothing is owed any more, somebody was answered or told, or asked for it."""
    change = commit.changed("owes")
    if change is None or change.get("to") is not None:
        return
    answered = any(p.kind == "assistant_message" and p.content["final"] for p in commit.promises)
    told = any(p.kind == "error" for p in commit.promises) or commit.changed("closed") is not None
    asked = any(one.kind in ("cancel", "close") for one in commit.taken)
    if not (answered or told or asked):
        yield f"never stuck: commit {commit.number} ends the debt to {thread.owes} and tells nobody"


def _settled_before(facts: Facts, thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """Every message of the last commit is out, is carried on, or is answered; its markers and the tip are there."""
    if not thread.commits:
        return
    last = thread.commits[-1]
    carried = {promise.id for promise in commit.promises if promise.kind == "carried"}
    left = [promise for promise in facts.open_promises(last) if promise.id not in carried]
    for promise in left:
        yield f"settle before next: commit {commit.number}, but {promise.kind} of {last.number} is not sent"
    for promise in last.promises:
        lost = promise.id in facts.refused and promise.id not in facts.sent and promise.id not in carried
        call_id = promise.content.get("call_id")
        waited_for = promise.queue.startswith("worker:") and call_id in thread.live
        if lost and waited_for and not commit.answers(str(call_id)):
            yield f"never stuck: {call_id} can never be sent, and commit {commit.number} does not answer it"
    if last.marked_inputs and last.number not in thread.marked:
        yield f"settle before next: commit {commit.number} before the markers of {last.number}"
    excused = carried or any(promise.id in facts.refused for promise in last.promises)
    if thread.tip < last.number and not excused and not last.erases:
        yield f"settle before next: commit {commit.number} while the tip is at {thread.tip}"
