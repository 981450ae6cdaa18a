"""Rules of trees: how a child begins, what it may inherit, and that its end is told (*safe spawn*, *never stuck*)."""

from collections.abc import Iterator

from core.ids import child_thread_id

from .commits_seen import CommitSeen, Json
from .facts import Facts
from .thread_facts import ThreadFacts

Broken = Iterator[str]
BUILTIN = ("spawn_thread", "send_message_to_child", "report_to_parent", "close_thread")


def broken_by_tree(facts: Facts, thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """What this commit, the next of its thread, does wrongly to parent or children."""
    yield from _opened(facts, thread, commit)
    yield from _inherits_safely(facts, thread, commit)
    yield from _begins(facts, thread, commit)
    yield from _told(commit)
    yield from _ended_for_a_reason(commit)
    yield from _closes(thread, commit)
    yield from _last_event_taken(thread, commit)
    yield from _does_as_it_says(thread, commit)


def broken_by_silence(thread: ThreadFacts) -> Broken:
    """A child that has nothing to wait for ends with the commit that leaves it so."""
    if thread.parent and thread.idle and not thread.closed:
        yield f"never stuck: {thread.thread_id} has nothing to wait for, and does not end"


def _opened(facts: Facts, thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """A child is open in the fold exactly from the commit that spawns it; its id is that of what spawned it."""
    root = thread.thread_id.partition("~")[0]
    opened = [(child["thread_id"], child["kind"], child["credit"]) for child in commit.opened()]
    spawns = [promise.content for promise in commit.promised("spawn")]
    if opened != [(s["thread_id"], s["child_kind"], s["credit"] if _counts(s) else 0) for s in spawns]:
        yield f"atomic commit: {opened} are opened, but {spawns} spawned"
    for spawn in spawns:
        child_id, call_id = spawn["thread_id"], spawn["call_id"]
        if spawn["child_kind"] == "spawned" and child_id != child_thread_id(root, call_id):
            yield f"derived ids: {child_id} is not the child of {call_id}"
        if child_id in facts.spawned:
            yield f"derived ids: {child_id} is spawned twice"
    events = [spawn["event"]["content"] for spawn in spawns if spawn["child_kind"] == "event"]
    if events != [one.said for one in commit.taken if one.goes_apart]:
        yield f"once: children for {events} are spawned by the events of {commit.consumed}"


def _counts(spawn: Json) -> bool:
    return bool(spawn["child_kind"] != "compaction")


def _inherits_safely(facts: Facts, thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """What children of this commit inherit, or a fork that it begins."""
    for spawn in commit.promised("spawn"):
        for ancestor in spawn.content.get("lineage", ()):
            own = commit if ancestor["thread_id"] == thread.thread_id else None
            yield from _cut_safely(facts.thread(ancestor["thread_id"]), own, ancestor, spawn.content)
    if (commit.origin or {}).get("forked_from"):
        for ancestor in (commit.origin or {})["lineage"]:
            forked = {"thread_id": thread.thread_id, "call_id": "", "child_kind": "fork"}
            yield from _cut_safely(facts.thread(ancestor["thread_id"]), None, ancestor, forked)
        if commit.entries or commit.promises or commit.taken or thread.commits:
            yield f"safe spawn: the fork {thread.thread_id} brings something along: {commit}"


def _cut_safely(log: ThreadFacts, own: CommitSeen | None, ancestor: Json, spawn: Json) -> Broken:
    """No live call, no part of a call group, none of the spawning turn, no reasoning cut off, nothing unwritten.

    `own`: the commit about to be made, if it is of the log that is cut.
    """
    commits = [*log.commits, *([own] if own else [])]
    shown = [entry for c in commits for entry in c.entries if entry["seq"] <= ancestor["cutoff_seq"]]
    called, answered = (
        {entry["call_id"] for entry in shown if entry["kind"] == kind}
        for kind in ("tool_call", "tool_result")
    )
    where = f"{spawn['thread_id']} inherits {ancestor['thread_id']} up to {ancestor['cutoff_seq']}"
    if called != answered:
        yield f"safe spawn: {where}, with {sorted(called ^ answered)} live"
    if shown and shown[-1]["kind"] == "reasoning":
        yield f"safe spawn: {where}, which is reasoning"
    if spawn["call_id"] in called and spawn["child_kind"] == "spawned":
        yield f"safe spawn: {where}, with the call that spawns it"
    last = next((c for c in commits if c.number == ancestor["last_commit"]), None)
    held = [entry["seq"] for entry in (*(last.carried or ()), *last.entries)] if last else []
    if ancestor["cutoff_seq"] not in held:
        yield f"safe spawn: {where}, which is not in commit {ancestor['last_commit']}"


def _begins(facts: Facts, thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """A child begins by the one spawn that its parent promised, as that says, and is told its task."""
    spawn_id = commit.spawn_id
    if commit.number > 1 or "~" not in thread.thread_id:
        if spawn_id is not None:
            yield f"once: {thread.thread_id} exists, and begins again by {spawn_id} in commit {commit.number}"
        return
    if spawn_id != facts.spawned.get(thread.thread_id) or spawn_id is None:
        yield f"once: {thread.thread_id} begins by {commit.consumed}, not by {facts.spawned.get(thread.thread_id)}"
        return
    parent_id, number, position = facts.promised[spawn_id]
    parent = facts.threads[parent_id]
    spawning = parent.commits[number - 1]
    spawn, origin = spawning.promises[position].content, commit.origin or {}
    if origin.get("ancestors") != parent.stack or origin.get("kind") != spawn["child_kind"]:
        yield f"once: {thread.thread_id} was spawned by {parent.stack}, but says {origin}"
    if origin.get("lineage", []) != spawn.get("lineage", []):
        yield f"safe spawn: {thread.thread_id} was to inherit {spawn.get('lineage')}, but says {origin.get('lineage')}"
    yield from _opens_with(spawning, spawn, commit)


def _opens_with(spawning: CommitSeen, spawn: Json, commit: CommitSeen) -> Broken:
    """The task as user text if nothing is inherited; a pair that tells who it is; the event."""
    opening = commit.opening
    kinds = [] if spawn.get("lineage") else ["user"]
    kinds += {"spawned": ["tool_call", "tool_result"], "event": ["tool_call", "tool_result", "event"]}.get(
        spawn["child_kind"], [] if kinds else ["user"]
    )
    if [entry["kind"] for entry in opening] != kinds:
        yield f"safe spawn: {spawn['thread_id']} opens with {opening}"
    if (
        spawn["child_kind"] == "event"
        and opening[-1:]
        and opening[-1]["content"] != spawn["event"]["content"]
    ):
        yield f"once: {spawn['thread_id']} is for {spawn['event']}, but opens with {opening[-1]}"
    for call in (entry for entry in opening if entry["kind"] == "tool_call"):
        asked = [e["args"] for e in spawning.entries if e.get("call_id") == spawn["call_id"] and "args" in e]
        if spawn["child_kind"] == "spawned" and asked != [call["args"]]:
            yield f"once: {spawn['thread_id']} was spawned with {asked}, but opens with {call['args']}"


def _told(commit: CommitSeen) -> Broken:
    """Clients hear of every child that begins and of every one that told its end, compactions apart."""
    begun = [child["thread_id"] for child in commit.opened() if child["kind"] != "compaction"]
    told = [promise.content["child_thread_id"] for promise in commit.promised("thread_spawned")]
    if told != begun:
        yield f"atomic commit: {begun} begin, but {told} are told"
    over = [
        one.body["child_thread_id"]
        for one in commit.taken
        if one.kind == "thread_report" and one.ends_a_child
    ]
    told = [promise.content["child_thread_id"] for promise in commit.promised("thread_closed")]
    if told != over:
        yield f"atomic commit: {over} told their end, but {told} are told as closed"


def _ended_for_a_reason(commit: CommitSeen) -> Broken:
    """A child is open until it told its end, or its parent closes and it is told to close."""
    over = [one.body["child_thread_id"] for one in commit.taken if one.ends_a_child]
    sent = [promise.content["thread_id"] for promise in commit.promised("close")]
    for child in commit.ended():
        if child not in over and child not in sent:
            yield f"never stuck: {child} is open no more, and neither told its end nor is closed"
    for child in over:
        if child not in commit.ended():
            yield f"never stuck: {child} told its end, and stays open"


def _closes(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """Whoever ends tells its parent, once, from the same commit, and takes everything that is its own along."""
    closes = commit.changed("closed") is not None
    parent = next(reversed((commit.origin or thread.origin).get("ancestors", [])), None)
    ends = [promise.content["parent"] for promise in commit.promises if promise.ends_a_child]
    if ends != ([parent] if closes and parent else []):
        yield f"never stuck: {thread.thread_id} (closed: {closes}) tells its end to {ends}, its parent is {parent}"
    if not closes:
        return
    yield from _ends_audibly(thread, commit)
    if sent := [promise.content["call_id"] for promise in commit.promised("tool_call", "spawn")]:
        yield f"never stuck: {thread.thread_id} closes, and sends {sent} all the same"
    left = {*thread.children, *(child["thread_id"] for child in commit.opened())} - set(commit.ended())
    called = {entry["call_id"] for entry in commit.entries if entry["kind"] == "tool_call"}
    live = {call_id for call_id in thread.live.keys() | called if not commit.answers(call_id)}
    over = {change["call_id"] for change in commit.changes if change["op"] == "subscription_ended"}
    for what, value in (
        ("children", left),
        ("live calls", live),
        ("subscriptions", thread.subscriptions - over),
    ):
        if value:
            yield f"never stuck: {thread.thread_id} closes and leaves {what}: {sorted(value)}"


def _ends_audibly(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """A model hears of the end of a child, unless that was for an event, or the parent closed it.

    A child for an event tells the report that it closes itself with.
    """
    by_parent = any(one.kind == "close" and one.body.get("closed_by") is not None for one in commit.taken)
    reports = any(
        entry["kind"] == "tool_call"
        and entry["name"] == "close_thread"
        and entry["args"].get("thread_id") == thread.thread_id
        and (entry["args"].get("report_to_parent") or "").strip()
        for entry in commit.own_entries
    )
    silent = by_parent or ((commit.origin or thread.origin).get("kind") == "event" and not reports)
    for promise in commit.promised("thread_report"):
        if promise.content["closing"] and (promise.content.get("text") is None) != silent:
            yield f"never stuck: {thread.thread_id} ends with {promise.content}, and is to be silent: {silent}"


def _last_event_taken(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """The final event ends its subscription, and there was one to take it in."""
    over = {change["call_id"] for change in commit.changes if change["op"] == "subscription_ended"}
    for one in commit.taken:
        if one.kind == "subscription_event" and one.body.get("final") and one.body["call_id"] not in over:
            yield f"once: {one.message_id} is the last event of {one.body['call_id']}, which stays open"
        if one.kind == "subscription_event" and one.body["call_id"] not in thread.subscriptions:
            yield f"once: {one.message_id} is taken in, but {one.body['call_id']} is not open"


def _does_as_it_says(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """What a built-in call says was done, its commit promises; and it promises nothing more."""
    done = {e["call_id"] for e in commit.entries if e["kind"] == "tool_result" and e["outcome"] == "ok"}
    calls = [e for e in commit.own_entries if e["kind"] == "tool_call" and e["call_id"] in done]
    told = {name: [e for e in calls if e["name"] == name] for name in BUILTIN}
    asked = {
        "spawn": [e["call_id"] for e in told["spawn_thread"]],
        "parent_message": [e["call_id"] for e in told["send_message_to_child"]],
        "thread_report": [e["args"]["report"] for e in told["report_to_parent"]],
    }
    promised = {
        "spawn": [
            p.content["call_id"] for p in commit.promised("spawn") if p.content["child_kind"] == "spawned"
        ],
        "parent_message": [p.content["call_id"] for p in commit.promised("parent_message")],
        "thread_report": [p.content["text"] for p in commit.promised("thread_report") if not p.ends_a_child],
    }
    if asked != promised:
        yield f"atomic commit: {thread.thread_id} says that it did {asked}, but promises {promised}"
    closed = {e["args"]["thread_id"] for e in told["close_thread"]} - {thread.thread_id}
    if not closed <= {promise.content["thread_id"] for promise in commit.promised("close")}:
        yield f"atomic commit: {thread.thread_id} says that it closes {sorted(closed)}, but does not promise it"
