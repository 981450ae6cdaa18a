"""The same end: a fault-free run, given the inputs in the order and slices of a faulty one, comes to the same history.

Ids derived from instants are left out of the comparison; call ids are not derived from them, and must be the same.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from infra.memory import MemoryStore

from .commits_seen import CommitSeen, Json
from .facts import Facts
from .queues import Sent
from .reference import Reference, replayed
from .scenario import Scenario
from .thread_facts import ThreadFacts


class SameEnd:
    """Compares runs with fault-free ones. Remembers what was right: most faulty runs come to few ends."""

    def __init__(self) -> None:
        self._right: set[str] = set()

    def broken(
        self, facts: Facts, scenario: Scenario, sent: Sequence[Sent], store: MemoryStore
    ) -> Iterator[str]:
        """Where a thread's history is not that of a fault-free run."""
        for whole in facts.threads.values():
            thread = _before_an_end(whole)
            lost = _lost_calls(facts, thread)
            inherited = _inherited(facts, thread)
            known_by = repr((scenario.name, sorted(lost), inherited, _course(thread.commits)))
            if thread.commits and known_by not in self._right:
                differences = list(_differences(Reference(thread, scenario, sent, store, lost)))
                yield from differences
                if not differences:
                    self._right.add(known_by)


def _before_an_end(thread: ThreadFacts) -> ThreadFacts:
    """The thread up to where its log was ended: what came behind is another's, and held to the other rules."""
    end = next((index for index, commit in enumerate(thread.commits) if commit.erases), None)
    if end is None:
        return thread
    before = ThreadFacts(thread.thread_id)
    for commit in thread.commits[:end]:
        before.apply(commit)
    return before


STATE = ("state", "state_aside", "state_back")


def history(commits: Sequence[CommitSeen]) -> tuple[list[Json], list[Json], list[Json]]:
    """Entries, what was promised to the client, and what became of the author's state, in order."""
    entries: list[Json] = [dict(entry) for commit in commits for entry in commit.entries]
    outputs: list[Json] = [
        _without_instant(p.content) for commit in commits for p in commit.promises if p.queue == "output"
    ]
    edits = [_in_order(change) for commit in commits for change in commit.changes if change["op"] in STATE]
    return entries, [output for output in outputs if output["kind"] != "carried"], edits


def _in_order(change: Json) -> Json:
    """The order of an object's keys says nothing, and a snapshot may change it: edits of a state by path."""
    edits = sorted(change.get("edits", ()), key=lambda edit: str(edit["path"]))
    return {**change, "edits": edits} if edits else change


def _without_instant(output: Json) -> Json:
    """A question runs from when it was asked."""
    if "question" not in output:
        return dict(output)
    return {**output, "question": {k: v for k, v in output["question"].items() if k != "expires_at"}}


def _differences(reference: Reference) -> Iterator[str]:
    theirs, ours = history(reference.faulty.commits), history(replayed(reference))
    for what, faulty, faultless in zip(("entries", "outputs", "edits of state"), theirs, ours, strict=True):
        if faulty != faultless:
            yield f"the same end: {what} are {faulty}, without faults {faultless}"


def _inherited(facts: Facts, thread: ThreadFacts) -> list[Json]:
    """The entries of other threads that it reads."""
    logs = [(facts.thread(a["thread_id"]), a["cutoff_seq"]) for a in thread.origin.get("lineage", ())]
    return [entry for log, cutoff in logs for entry in log.entries if entry["seq"] <= cutoff]


def _course(commits: Sequence[CommitSeen]) -> list[tuple[Any, ...]]:
    """All that the comparison depends on, instants and ids derived from them apart."""
    visits = {commit.made.visit: number for number, commit in enumerate(commits)}
    return [
        (
            visits[commit.made.visit],
            commit.made.completing,
            commit.made.attempt,
            [one.key if one.kind not in ("wake", "timer") else one.kind for one in commit.taken],
            [(change["op"], change.get("reason"), change.get("tries")) for change in commit.changes],
            history([commit]),
        )
        for commit in commits
    ]


def _lost_calls(facts: Facts, thread: ThreadFacts) -> set[tuple[str, str]]:
    """Calls that were answered because a queue refused them for good, with the type of the message that it refused."""
    promises = (promise for commit in thread.commits for promise in commit.promises)
    refused = [p for p in promises if p.id in facts.refused and p.kind in ("tool_call", "tool_answer")]
    answered = (e for e in thread.entries if e["kind"] == "tool_result" and e["outcome"] == "error")
    over = {entry["call_id"] for entry in answered if entry.get("message_id") is None}
    return {(p.content["call_id"], p.kind) for p in refused if p.content["call_id"] in over}
