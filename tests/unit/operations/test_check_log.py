"""`check`, over logs that slices made and a test then broke: each rule finds what breaks it, and nothing else."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from core.commit import Base, Commit
from core.entries import ToolCall, ToolResult, User
from core.history.checkpoints import COMMITS
from core.thread import ThreadState
from infra.memory import MemoryStore
from infra.operations.check_log import LogCheck, ReadCommit
from infra.operations.findings import Finding
from tests.support.compacting import SUMMARY, small
from tests.support.rules import FETCH, on, spawn, spawned
from tests.support.tree import ROOT, Tree, tree

Log = list[Commit]


def read(commit: Commit, /, **found: Any) -> ReadCommit:
    """As it was found: nothing is wrong with it, unless it is said."""
    whole = ReadCommit(commit.number, commit, None, commit.digest, commit.from_number, commit.first_seq)
    return replace(whole, **found)


def findings(reads: Sequence[ReadCommit]) -> list[Finding]:
    check = LogCheck(ROOT)
    return [finding for one in reads for finding in check.take(one)]


def broken(log: Log) -> set[tuple[str, str]]:
    """Rule and place of what is found, each once."""
    return {(finding.rule, finding.where) for finding in findings([read(commit) for commit in log])}


def commits(one: Tree, thread_id: str = ROOT) -> Log:
    assert isinstance(one.world.store, MemoryStore)
    return list(one.world.store.commits(thread_id))


async def lived() -> Log:
    """A thread that was asked, has called a worker, was summed up, has spawned a child, and was asked again."""
    rules = [
        on(FETCH, user="fetch"),
        on(spawn("look"), user="spawn"),
        on(says="They work.", **spawned()),
        SUMMARY,
        on(says="fine"),
    ]
    one = tree(rules, app=small())
    await one.say("fetch")
    await one.answer()
    await one.tell("compact")
    await one.say("spawn")
    await one.say("bye")
    return commits(one)


def at(log: Log, number: int, **update: Any) -> Log:
    """The log with one commit changed, and its digest with it."""
    return [commit.model_copy(update=update) if commit.number == number else commit for commit in log]


def entry_at(log: Log, kind: type) -> tuple[Commit, int]:
    """The first commit with such an entry, and its place there."""
    return next((c, i) for c in log for i, entry in enumerate(c.entries) if isinstance(entry, kind))


async def test_a_healthy_log_has_nothing_wrong_with_it() -> None:
    log = await lived()
    assert broken(log) == set()
    assert any(commit.base for commit in log)
    assert len(log) >= 6


async def test_a_long_log_with_checkpoints_has_nothing_wrong_with_it() -> None:
    one = tree([on(says="fine")], app=small())
    await one.say("hi")
    for _ in range(COMMITS + 2):
        await one.tell("cancel")
    log = commits(one)
    assert broken(log) == set()


async def test_what_is_missing_is_told_once_and_what_follows_is_still_read() -> None:
    log = await lived()
    for number in range(1, len(log)):
        found = broken([commit for commit in log if commit.number != number])
        assert ("append-only", f"commit {number + 1}") in found
        assert len(found) == 1


def _seq_skipped(log: Log) -> Log:
    return at(log, 3, first_seq=log[2].first_seq + 1)


def _born_elsewhere(log: Log) -> Log:
    return at(log, 2, birth="another")


def _of_another_thread(log: Log) -> Log:
    return at(log, 2, thread_id="t2")


def _starts_late(log: Log) -> Log:
    return at(log, 2, from_number=2)


def _base_starts_late(log: Log) -> Log:
    base = next(commit for commit in log if commit.base)
    return at(log, base.number, from_number=base.from_number + 1)


def _begins_again(log: Log) -> Log:
    return at(log, 2, origin=log[0].origin)


def _snapshot_lies(log: Log) -> Log:
    base = next(commit for commit in log if commit.base)
    assert base.base is not None
    lies = base.base.snapshot.model_copy(update={"owes": not base.base.snapshot.owes})
    return at(log, base.number, base=Base(summary=base.base.summary, snapshot=lies))


def _without(kind: type) -> Callable[[Log], Log]:
    def change(log: Log) -> Log:
        """As if the entry said something else: the seqs stay."""
        commit, place = entry_at(log, kind)
        other = User(seq=commit.entries[place].seq, content=())
        entries = (*commit.entries[:place], other, *commit.entries[place + 1 :])
        return at(log, commit.number, entries=entries)

    return change


def _answered_twice(log: Log) -> Log:
    commit, place = entry_at(log, ToolResult)
    following = log[commit.number]
    again = commit.entries[place].model_copy(update={"seq": following.first_seq})
    return at(log, following.number, entries=(again, *following.entries[1:]))


def _call_id_used_again(log: Log) -> Log:
    _, place = entry_at(log, ToolCall)
    first = entry_at(log, ToolCall)[0].entries[place]
    last = log[-1]
    again = first.model_copy(update={"seq": last.last_seq})
    return at(log, last.number, entries=(*last.entries[:-1], again))


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (_seq_skipped, "append-only"),
        (_of_another_thread, "append-only"),
        (_begins_again, "append-only"),
        (_born_elsewhere, "derived ids"),
        (_starts_late, "bounded"),
        (_base_starts_late, "bounded"),
        (_snapshot_lies, "bounded"),
        (_without(ToolResult), "well-formed"),
        (_without(ToolCall), "once"),
        (_answered_twice, "once"),
        (_call_id_used_again, "derived ids"),
    ],
)
async def test_each_rule_of_a_log_finds_what_breaks_it(change: Callable[[Log], Log], rule: str) -> None:
    assert rule in {found for found, _ in broken(change(await lived()))}


@pytest.mark.parametrize(
    ("found", "rule", "is_note"),
    [
        ({"content_digest": "other"}, "append-only", False),
        ({"from_number": 7}, "append-only", False),
        ({"first_seq": 7}, "append-only", False),
        ({"gone": ("s3://b/k",), "content_digest": None}, "payload", True),
        ({"changed": ("s3://b/k",)}, "payload", False),
        ({"commit": None, "fault": "damaged"}, "atomic commit", False),
    ],
)
async def test_what_is_found_beside_and_behind_a_commit_is_held_against_it(
    found: dict[str, Any], rule: str, is_note: bool
) -> None:
    log = await lived()
    reads = [read(commit, **(found if commit.number == 2 else {})) for commit in log]
    assert {(one.rule, one.where, one.note) for one in findings(reads)} == {(rule, "commit 2", is_note)}


async def test_the_fold_that_the_check_ends_with_is_the_threads() -> None:
    log = await lived()
    check = LogCheck(ROOT)
    assert [finding for commit in log for finding in check.take(read(commit))] == []
    assert check.state is not None
    assert (check.state.number, check.state.last_seq) == (len(log), log[-1].last_seq)
    assert isinstance(check.state, ThreadState)
    assert log[-1].at - log[0].at < timedelta(days=1)
