"""Rules of credit: every token that a thread holds was given to it, and no tree ever holds more than it was given.

Credit moves with spawns and comes back with closing reports, so the whole tree is bounded and nothing is shared.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from .commits_seen import CommitSeen, TakenIn
from .facts import Facts
from .thread_facts import ThreadFacts

Broken = Iterator[str]


@dataclass(slots=True)
class _Account:
    """A thread's credit while a commit is gone through."""

    credit: int | None
    granted: int = 0
    spent: int = 0

    @property
    def held(self) -> int:
        """What is there to spend. The last words of a turn may cost more than is left."""
        return max(0, self.credit or 0)


def broken_by_spending(facts: Facts, thread: ThreadFacts, commit: CommitSeen) -> Broken:
    """A finished turn is counted once, its tokens are spent, children get their part; user text begins anew."""
    anew = any(one.kind in ("user_message", "parent_message") for one in commit.taken)
    turn = commit.has_turn and not commit.failed
    used, change = commit.changed("turns"), commit.changed("credit")
    after = used["turns"] if used else thread.turns
    if after != (0 if anew else thread.turns) + turn:
        yield f"limits: {after} turns after commit {commit.number}, {thread.turns} before (new text: {anew})"
    account = _gone_through(facts, thread, commit)
    left = change["tokens"] if change else thread.credit
    if left != account.credit:
        yield f"limits: {left} tokens after commit {commit.number} of {thread.thread_id}, not {account.credit}"
    for promise in commit.promised("thread_report"):
        if promise.content["credit"] != (account.held if promise.content["closing"] else 0):
            yield f"limits: {thread.thread_id} reports {promise.content['credit']} tokens of {account.credit}"


def account_for(facts: Facts, thread: ThreadFacts, commit: CommitSeen) -> None:
    """Note what was given and spent by a commit that is about to be durable."""
    if thread.origin.get("kind") != "compaction" and (commit.origin or {}).get("kind") != "compaction":
        account = _gone_through(facts, thread, commit)
        facts.granted += account.granted
        facts.spent += account.spent


def broken_by_minting(facts: Facts) -> Broken:
    """All that is held, on its way or spent was given by user text to a root. What a dropped report held is gone."""
    held = sum(max(0, thread.credit or 0) for thread in facts.threads.values() if _counts(thread))
    travelling = sum(_travelling(facts, thread) for thread in facts.threads.values())
    if held + travelling + facts.spent > facts.granted:
        yield (
            f"limits: {held} tokens are held, {travelling} on their way and {facts.spent} spent, but only "
            f"{facts.granted} were given"
        )


def _counts(thread: ThreadFacts) -> bool:
    return not thread.closed and thread.origin.get("kind") != "compaction"


def _travelling(facts: Facts, thread: ThreadFacts) -> int:
    """Credit in spawns that have made no child yet, and in ends of children that were not taken in yet."""
    tokens = 0
    for promise in (promise for commit in thread.commits for promise in commit.promises):
        if promise.kind == "spawn" and promise.content["child_kind"] != "compaction":
            begun = facts.threads.get(promise.content["thread_id"])
            tokens += 0 if begun and begun.commits else promise.content["credit"]
        if promise.kind == "thread_report" and promise.content["closing"]:
            parent = facts.thread(promise.content["parent"])
            tokens += promise.content["credit"] if thread.thread_id in parent.children else 0
    return tokens


def _gone_through(facts: Facts, thread: ThreadFacts, commit: CommitSeen) -> _Account:
    """What the commit makes of the credit: its inputs in order, then its turn, then the children of the turn."""
    account = _Account(thread.credit)
    for_events = iter([child["credit"] for child in commit.opened() if child["kind"] == "event"])
    for one in commit.taken:
        if one.goes_apart:
            account.credit = account.held - next(for_events, 0)
        else:
            _take_in(facts, thread, account, one)
    before = account.held
    if commit.changed("route") is not None:
        account.credit = (account.credit or 0) - commit.made.routing_tokens
    if commit.has_turn and not commit.failed:
        account.credit = (account.credit or 0) - commit.made.tokens
    account.spent = before - account.held
    spawned = [child["credit"] for child in commit.opened() if child["kind"] == "spawned"]
    if spawned:
        account.credit = (account.credit or 0) - sum(spawned)
    return account


def _take_in(facts: Facts, thread: ThreadFacts, account: _Account, one: TakenIn) -> None:
    match one.kind:
        case "user_message" if "~" not in thread.thread_id:
            account.granted += max(0, facts.limit_tokens - account.held)
            account.credit = facts.limit_tokens
        case "spawn":
            account.credit = one.body["credit"]
        case "thread_report" if one.ends_a_child and one.body["child_thread_id"] in thread.children:
            given = thread.children[one.body["child_thread_id"]]["credit"]
            back = (account.credit or 0) + min(max(0, one.body["credit"]), given)
            account.credit = back if "~" in thread.thread_id else min(back, facts.limit_tokens)
