"""Rules of acknowledgement: what is deleted from a queue has done its work, or never had any."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from core.ids import digest
from core.messages import Envelope
from core.parsing import parse_input

from .commits_seen import Json, identity_of
from .facts import Facts
from .queues import COMMANDS
from .scenario import FORK
from .thread_facts import ThreadFacts

Broken = Iterator[str]


def broken_by_acknowledging(
    facts: Facts, who: str, known: Mapping[str, int], queue: str, record: Mapping[str, Any]
) -> Broken:
    """`known`: by thread, the newest commit that `who` saw or made."""
    served = queue.removesuffix("-dead")
    try:
        body = json.loads(record["body"])
        kind = body["type"]
    except (ValueError, KeyError, TypeError):
        if record["messageId"] not in facts.parked:
            yield f"once: a body that nobody can read was acknowledged, but not kept: {record['body']!r}"
        return
    if served == "input":
        yield from _input(facts, body, kind, record["messageId"])
        yield from _conflict(facts, record["body"], body)
        yield from _settled(facts.thread(body["thread_id"]), facts, known.get(body["thread_id"], 0))
    elif served == COMMANDS and kind != FORK:
        return
    elif kind == FORK:
        forked = facts.thread(body["new_thread_id"])
        if not forked.commits or not forked.tip:
            yield f"once: {kind} {body['message_id']} succeeded, but {forked.thread_id} does not stand"
    elif served == "delay":
        if (who, body["message_id"]) not in facts.sent_by:
            yield f"never stuck: {kind} {body['message_id']} was acknowledged, but not passed on"
    elif kind == "tool_call":
        work = facts.work.get(body["call_id"])
        cancelled = work is not None and work.state == "cancelled"
        if body["call_id"] not in facts.answers.keys() | facts.asked_about and not cancelled:
            yield f"never stuck: call {body['call_id']} was acknowledged, but not answered"
    elif kind == "tool_answer":
        if body["call_id"] not in facts.answers and facts.of_call(body["call_id"]).state != "cancelled":
            yield f"never stuck: the answer to {body['call_id']} was acknowledged, but leads to nothing"
    elif queue == served and facts.work[body["call_id"]].state not in ("cancelled", "finished"):
        yield f"once: the cancellation of {body['call_id']} was acknowledged, but leaves nothing"


def _input(facts: Facts, body: Json, kind: str, transport_id: str) -> Broken:
    message_id = body.get("message_id") or transport_id
    thread = facts.thread(body.get("thread_id", ""))
    if identity_of(body, transport_id) in thread.taken or message_id in facts.told | facts.parked:
        return
    if _is_stale(facts, thread, body, message_id):
        return
    yield f"once: {kind} {message_id} was acknowledged, but neither taken in nor refused"


def _conflict(facts: Facts, text: str, body: Json) -> Broken:
    """An input under an id that another body was taken in by is no duplicate: that is told."""
    message_id = body.get("message_id")
    thread = facts.thread(body.get("thread_id", ""))
    number = thread.taken.get(identity_of(body)) if message_id is not None else None
    if number is None or message_id in facts.told:
        return
    taken = next(one for one in thread.commits[number - 1].taken if one.identity == identity_of(body))
    if parse_input(text, Envelope("", None)).body_digest != taken.digest:
        yield f"once: {message_id} was acknowledged, though another body was taken in as {taken.identity}"


def _is_stale(facts: Facts, thread: ThreadFacts, body: Json, message_id: str) -> bool:
    """Whether nobody waits for it."""
    match body["type"]:
        case "tool_result":
            return body["call_id"] not in thread.live
        case "question":
            return body["call_id"] not in thread.live.keys() - thread.questions.keys()
        case "answer":
            return body["call_id"] not in thread.live.keys() & thread.questions.keys()
        case "wake":
            return bool(message_id != thread.wake)
        case "timer":
            return bool(message_id != thread.timer)
        case "subscription_event":
            return thread.closed or body["call_id"] not in thread.subscriptions
        case "thread_report":
            ended = body.get("closing", False) and body["child_thread_id"] not in thread.children
            return thread.closed or bool(ended)
        case "compaction_done":
            return thread.closed or body["child_thread_id"] not in thread.children
        case "spawn":
            return bool(thread.commits)
        case "compact":  # there may be nothing to summarise, or somebody at it
            return bool(thread.commits)
        case "close":
            return body.get("closed_by") is not None and (thread.closed or not thread.commits)
        case "parent_message":
            return digest("returned", body["thread_id"], message_id) in facts.sent
        case _:
            return False


def _settled(thread: ThreadFacts, facts: Facts, number: int) -> Broken:
    """Whoever acknowledges has settled what it saw, or a wake that was out then will (decision 1). The end of a log has
    nothing to settle.
    """
    if thread.commits[number - 1 : number] and thread.commits[number - 1].erases:
        return
    if thread.tip < number and thread.wakes[number - 1] not in facts.sent:
        yield f"settle before next: acknowledged with the tip at {thread.tip}, commit {number} seen, no wake out"
