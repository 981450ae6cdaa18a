"""Rules of an author's state: what an accepted result patches stands, and nothing else changes it but inline tools.

With a fold of its own of the recorded edits.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .commits_seen import CommitSeen, Json
from .thread_facts import ThreadFacts

Broken = Iterator[str]
COUNTED = "counted"
"""What the inline tool `count` counts up."""


def broken_by_state(thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """What this commit, the next of its thread, makes of the state."""
    before = state_of(thread.log())
    after = _edited(before, commit)
    results = {e["call_id"]: e for e in commit.entries if e["kind"] == "tool_result"}
    patches = [
        one.body["state_patch"]
        for one in commit.taken
        if one.kind == "tool_result" and one.body.get("state_patch") and one.body["call_id"] in results
    ]
    wanted = dict(leaf for patch in patches for leaf in _leaves(patch))
    for path, value in wanted.items():
        if _at(after, path) != value:
            yield f"state: a result sets {path} to {value}, but it is {_at(after, path)}"
    names = {e["call_id"]: e["name"] for e in (*thread.entries, *commit.entries) if e["kind"] == "tool_call"}
    counts = sum(e["outcome"] == "ok" and names.get(call_id) == "count" for call_id, e in results.items())
    if after.get(COUNTED, 0) != before.get(COUNTED, 0) + counts:
        yield f"state: {before.get(COUNTED, 0)} and {counts} more make {after.get(COUNTED, 0)}"
    if before != after and not wanted and not counts:
        yield f"state: commit {commit.number} of {thread.thread_id} changes it, and nobody asked for that"


def state_of(commits: Sequence[CommitSeen]) -> dict[str, Any]:
    """The state after these commits."""
    state: dict[str, Any] = {}
    for commit in commits:
        state = _edited(state, commit)
    return state


def _edited(state: Mapping[str, Any], commit: CommitSeen) -> dict[str, Any]:
    """Only whole values are set in these scenarios."""
    after: dict[str, Any] = dict(state)
    for edit in (edit for change in commit.changes if change["op"] == "state" for edit in change["edits"]):
        assert edit["op"] == "set", edit
        inner = after
        for key in edit["path"][:-1]:
            inner[key] = dict(inner[key])
            inner = inner[key]
        inner[edit["path"][-1]] = edit["value"]
    return after


def _leaves(patch: Json, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in patch.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key), value


def _at(state: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    found: Any = state
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found
