"""Rules of workers and models: a call runs only for whoever holds it, a model is asked only what it may be asked."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from core.blocks import TextBlock
from core.errors import MalformedRequest
from core.request import CallPart, ModelRequest, Part, ResultPart
from core.strict import check_request
from core.tools.names import EVENT_TOOL_NAME
from core.work import Begun, Started

from .commits_seen import Json
from .facts import Facts, WorkFacts
from .thread_facts import ThreadFacts

Broken = Iterator[str]


def broken_by_beginning(
    work: WorkFacts, who: str, attempt_lease: datetime, begun: Begun, now: datetime
) -> Broken:
    """Who may start a call: nobody after its end, one at a time before it."""
    if not isinstance(begun, Started):
        return
    if work.state in ("finished", "cancelled", "asking"):
        yield f"once: {who} was told to run a call that is {work.state}"
    held = work.state == "running" and work.lease_until is not None and work.lease_until > now
    if held and work.holder != who:
        yield f"once: {who} was told to run a call that {work.holder} holds until {work.lease_until}"
    if attempt_lease <= now:
        yield f"once: {who} was given a lease that is over"


def broken_by_running(work: WorkFacts, who: str, now: datetime, deadline: datetime | None) -> Broken:
    """A tool's own code ran."""
    if who not in work.starters:
        yield f"once: {who} runs a call that it was not told to run ({work.state})"
    if deadline is not None and now > deadline:
        yield f"never stuck: {who} starts a call after its deadline"


def broken_by_asking(facts: Facts, thread: ThreadFacts, number: int, request: ModelRequest) -> Broken:
    """The request is well-formed, every call of the log as it was read, up to `number`, is answered in it; and of
    calls it shows the thread's own and those that it inherits, no others.
    """
    try:
        check_request(request)
    except MalformedRequest as error:
        yield f"well-formed: {error}"
    parts = [part for message in request.messages for part in message.parts]
    answered = {part.call_id for part in parts if isinstance(part, ResultPart)}
    if request.context.routing:
        yield from _only_routes(request)
        return
    for call_id in thread.live_after(number) - answered:
        yield f"well-formed: a model was asked while {call_id} is live"
    summarised = any(commit.is_base for log in facts.threads.values() for commit in log.commits)
    inherits = thread.thread_id in facts.spawned or thread.origin.get("lineage")
    if inherits and number == len(thread.commits) and not (summarised or request.context.compaction):
        yield from _shows_what_it_inherits(facts, thread, parts)


def _only_routes(request: ModelRequest) -> Broken:
    """A classification can call nothing, and sees what was said as text."""
    parts = [part for message in request.messages for part in message.parts]
    if request.tools or not all(isinstance(part, TextBlock) for part in parts):
        yield "well-formed: a classification is given tools, or more than text"


def _shows_what_it_inherits(facts: Facts, thread: ThreadFacts, parts: Sequence[Part]) -> Broken:
    """A child that has just begun is shown one call more: that tells it who it is."""
    shown = {part.call_id for part in parts if isinstance(part, CallPart) and part.name != EVENT_TOOL_NAME}
    texts = {part.text for part in parts if isinstance(part, TextBlock)}
    spawn_id = facts.spawned.get(thread.thread_id)
    begins = facts.promise(spawn_id).content if spawn_id is not None else thread.origin
    inherited = [(facts.thread(a["thread_id"]), a["cutoff_seq"]) for a in begins.get("lineage", ())]
    logs = [*inherited, (thread, thread.last_seq)]
    entries = [entry for log, cutoff in logs for entry in log.entries if entry["seq"] <= cutoff]
    there = {entry["call_id"] for entry in entries if entry["kind"] == "tool_call"}
    opening = 1 if spawn_id is not None and not thread.commits else 0
    if there - shown or len(shown - there) != opening:
        yield f"safe spawn: {thread.thread_id} is shown calls {sorted(shown ^ there)} too many or too few"
    said = {block["text"] for log, cutoff in inherited for e in log.entries for block in _said(e, cutoff)}
    if said - texts:
        yield f"safe spawn: {thread.thread_id} inherits {sorted(said - texts)}, which is not shown"


def _said(entry: Json, cutoff_seq: int) -> list[Json]:
    """The texts of an inherited entry."""
    if entry["seq"] > cutoff_seq or entry["kind"] not in ("user", "assistant"):
        return []
    return [entry] if entry["kind"] == "assistant" else [one for one in entry["content"] if "text" in one]
