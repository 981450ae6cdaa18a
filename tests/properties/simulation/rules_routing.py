"""Rules of supervised threads: each user message is classified before its turn, once, and the turn tells its route."""

from collections.abc import Iterator

from .commits_seen import CommitSeen, Json
from .thread_facts import ThreadFacts

Broken = Iterator[str]


def broken_by_routing(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """A thread is supervised once a route was chosen in it."""
    chosen, before = commit.changed("route"), _route(thread)
    newest = max((e["seq"] for e in (*thread.entries, *commit.entries) if e["kind"] == "user"), default=0)
    if chosen is None and before is None:
        return
    if chosen is not None and before is not None and before["seq"] >= newest:
        yield f"supervisor: {thread.thread_id} is classified again by commit {commit.number}, with no new text"
    route = before if chosen is None else chosen["route"]
    if route is None or not commit.has_turn or commit.failed:
        return
    if route["seq"] < newest:
        yield f"supervisor: the text {newest} of {thread.thread_id} is answered unclassified"
    for promise in commit.promised("assistant_message"):
        if promise.content.get("route") != route["name"]:
            yield f"supervisor: {thread.thread_id} answers as {promise.content.get('route')}, not {route['name']}"


def _route(thread: ThreadFacts) -> Json | None:
    changes = (commit.changed("route") for commit in reversed(thread.commits))
    return next((change["route"] for change in changes if change is not None), None)
