"""Rules of sending: nothing leaves that no durable commit promised, the same thing is always sent under the same id."""

import json
from collections.abc import Iterator

from core.clock import iso, parse_iso
from core.ids import digest
from core.ports import Outgoing

from .commits_seen import CommitSeen, Promise
from .facts import Facts
from .loop import START
from .rules_content import metadata_at
from .thread_facts import ThreadFacts

Broken = Iterator[str]


def broken_by_sending(facts: Facts, function: str, message: Outgoing) -> Broken:
    """What is wrong with a message that a queue has just taken."""
    before = facts.sent.get(message.id)
    if before is not None and before != message.body and not _says_the_same(facts, message, before):
        yield f"derived ids: {message.id} was sent with two bodies: {before} and {message.body}"
    if message.queue == "input" and message.group != json.loads(message.body)["thread_id"]:
        yield f"one writer: {message.id} is for another thread than its group {message.group}"
    if message.id in facts.promised:
        promise = facts.promise(message.id)
        yield from _as_promised(promise, message, passed_on=function in ("relay", "dead"))
        if promise.queue == "output" and before is None:
            yield from _in_order(facts, message.id)
        if before is None and promise.kind != "carried":
            yield from _as_the_thread_is(facts, message)
    elif message.queue.startswith("worker:") or message.queue == "delay":
        yield f"settle before next: {message.queue} got {message.id}, which no durable commit promises"
    elif message.queue == "output":
        yield from _a_refusal(facts, message)
    elif json.loads(message.body)["type"] == "tool_result":
        yield from _an_answer(facts, message)
    elif json.loads(message.body)["type"] == "question":
        if message.body not in facts.of_call(json.loads(message.body)["call_id"]).asked:
            yield f"once: {message.body} was asked before it was recorded"
    elif json.loads(message.body)["type"] == "thread_report":
        yield from _given_back(facts, message)
    else:
        yield f"settle before next: {message.queue} got {message.body}, which no durable commit promises"


def broken_by_taking_back(facts: Facts, message: Outgoing) -> Broken:
    """What is wrong with taking back a timer, which no queue sees."""
    if message.id not in facts.promised:
        yield f"settle before next: {message.body} is taken back, which no durable commit promises"
        return
    promise = facts.promise(message.id)
    promised = promise.content["body" if promise.kind == "carried" else "timer_id"]
    if message.body != promised:
        yield f"derived ids: {message.id} was promised to take back {promised}, but takes back {message.body}"


def _says_the_same(facts: Facts, message: Outgoing, before: str) -> bool:
    """As JSON, where keys have no order. No commit fixes a refusal's instant, nor what of its thread it reflects."""
    loose = {} if message.id in facts.promised else {"created_at": None, "seq": None, "metadata": None}
    now, then = json.loads(message.body), json.loads(before)
    return bool({**now, **loose} == {**then, **loose})


def _as_promised(promise: Promise, message: Outgoing, passed_on: bool) -> Broken:
    queue = promise.content["queue"] if promise.kind == "carried" else promise.queue
    if message.queue != queue and not (passed_on and queue == "delay" and message.queue == "input"):
        yield f"derived ids: {promise.kind} {message.id} was promised to {queue}, but sent to {message.queue}"
    body = json.loads(message.body)
    kind = body["type"] if promise.kind != "carried" else None
    if kind is not None and kind != promise.kind:
        yield f"derived ids: {message.id} was promised as {promise.kind}, but sent as {kind}"
    for name in ("text", "closing", "credit", "lineage") if kind in ("thread_report", "spawn") else ():
        if body.get(name) != promise.content.get(name, body.get(name) if not body.get(name) else None):
            yield f"settle before next: {name} of {message.id} was promised as {promise.content}, but sent as {body}"
    if promise.kind == "carried" and message.body != promise.content["body"]:
        yield f"settle before next: {message.id} was carried with another body than it is sent with"
    due_at = promise.content.get("due_at")
    if message.queue == "delay" and due_at and iso(parse_iso(due_at)) != iso(message.due_at or START):
        yield f"settle before next: {message.id} was promised for {due_at}, but sent for {message.due_at}"


def _as_the_thread_is(facts: Facts, message: Outgoing) -> Broken:
    """Outputs and calls carry the metadata that their commit left."""
    body, (thread_id, number, _) = json.loads(message.body), facts.promised[message.id]
    if facts.threads[thread_id].parent:  # its root's, as of when it was read
        return
    metadata = metadata_at(facts.threads[thread_id], number)
    if body.get("metadata", metadata) != metadata or body.get("user_id") != (
        metadata.get("user_id") if "user_id" in body else None
    ):
        yield f"settle before next: {message.id} carries metadata {body['metadata']}, not {metadata}"


def _in_order(facts: Facts, message_id: str) -> Broken:
    """No output overtakes one of an older commit. Inside a batch a queue may refuse one and take the next."""
    thread_id, number, _ = facts.promised[message_id]
    for commit in facts.threads[thread_id].commits[: number - 1]:
        for earlier in facts.open_promises(commit):
            if earlier.queue == "output":
                yield f"settle before next: output {message_id} overtook {earlier.id} of commit {commit.number}"


def _a_refusal(facts: Facts, message: Outgoing) -> Broken:
    """The one thing that is sent without a commit: an error for an input that no commit took in."""
    body = json.loads(message.body)
    told = ("thread_id", "message_id", "code", "message")
    for output_id, other in facts.outputs.items():
        if output_id != message.id and all(other.get(name) == body.get(name) for name in told):
            yield f"derived ids: one refusal is told as {output_id} and as {message.id}"
    known = facts.thread(body["thread_id"]).taken
    taken = (
        any(identity[-1] == body.get("message_id") for identity in known) and message.id not in facts.outputs
    )
    if body["type"] != "error" or (taken and body["code"] not in ("conflict", "dead_letter")):
        yield f"settle before next: output {message.body} is in no durable commit, and refuses nothing"


def _given_back(facts: Facts, message: Outgoing) -> Broken:
    """The other thing that is sent without a commit: what a parent told a child that takes nothing any more."""
    body = json.loads(message.body)
    child, parent = facts.thread(body["child_thread_id"]), facts.thread(body["thread_id"])
    told = (p for commit in parent.commits for p in commit.promised("parent_message"))
    returned = [p for p in told if digest("returned", child.thread_id, p.id) == message.id]
    if [p.content["call_id"] for p in returned] != [body["call_id"]]:
        yield f"settle before next: report {message.body} is in no durable commit, and gives nothing back"
    if child.commits and not child.closed:
        yield f"once: {child.thread_id} is open, and gives back {body['text']!r}"
    if any(child.took("parent_message", p.id) for p in returned):
        yield f"once: {child.thread_id} took in what it gives back: {body['text']!r}"


def _an_answer(facts: Facts, message: Outgoing) -> Broken:
    """A worker's answer: only what is recorded, and always the same."""
    body = json.loads(message.body)
    call_id = body["call_id"]
    work = facts.work.get(call_id)
    if work is None or work.state != "finished":
        yield f"once: {call_id} was answered before its result was recorded"
    before = facts.answers.get(call_id)
    if before is not None and before != message.body:
        yield f"once: {call_id} was answered twice, differently: {before} and {message.body}"


def broken_by_tip(facts: Facts, thread: ThreadFacts, number: int) -> Broken:
    """The tip may pass a commit only when all of it is confirmed."""
    for commit in thread.commits[:number]:
        for promise in facts.open_promises(commit):
            yield f"settle before next: tip at {number}, but {promise.kind} of {commit.number} is not sent"
        if commit.marked_inputs and commit.number not in thread.marked:
            yield f"settle before next: tip at {number}, but the markers of {commit.number} are missing"
    for call_id in thread.live:
        if any(_lost_call(facts, commit, call_id) for commit in thread.commits[:number]):
            yield f"never stuck: tip at {number}, and {call_id} can never reach its worker"


def _lost_call(facts: Facts, commit: CommitSeen, call_id: str) -> bool:
    return any(
        promise.kind in ("tool_call", "tool_answer")
        and promise.content["call_id"] == call_id
        and promise.id in facts.refused
        and promise.id not in facts.sent
        for promise in commit.promises
    )


def broken_by_writing_for(thread: ThreadFacts, number: int, digest: str, what: str) -> Broken:
    """Markers and tip are written only for what stands in the log."""
    if number > len(thread.commits) or thread.commits[number - 1].digest != digest:
        yield f"settle before next: {what} of commit {number}, which is not in the log"
