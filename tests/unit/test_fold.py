"""The fold: what each recorded change does to a thread, gaps, bases, and records that cannot be read."""

from datetime import UTC, datetime
from typing import Any

import pytest

from core.blocks import text_content
from core.changes import (
    CallOpened,
    Change,
    Closed,
    CreditLeft,
    DeferredJoined,
    InputDeferred,
    MetadataSet,
    Owes,
    SourcesSet,
    StateEdited,
    StateSetAside,
    StateTakenBack,
    SubscriptionEnded,
    SubscriptionOpened,
    TimerArmed,
    TimerCleared,
    TurnsUsed,
    UsageSeen,
    WakeArmed,
    WakeCleared,
)
from core.chunks import Usage
from core.commit import (
    Base,
    Commit,
    commit_from_text,
    commit_record,
    commit_text,
    read_commit,
)
from core.entries import Entry, ToolCall, ToolResult, User
from core.errors import UnreadableRecord
from core.fold import fold_commits
from core.ids import outbox_id
from core.outbox import SendAnswer
from core.sources import Source
from core.state.edits import AppendAt, SetAt
from core.thread import Deferred, FoldedThread, LiveCall, Origin, Subscription, Summary, ThreadState
from core.upcasting import SCHEMA_VERSION

AT = datetime(2025, 1, 1, tzinfo=UTC)
DEFERRED = Deferred(entry=User(content=text_content("waits")), message_id="m2")
SOURCE = Source(url="https://example.com", title="t")
EDITED = StateEdited(edits=(SetAt(path=("a",), value=[1]),))
EDITED_MORE = StateEdited(edits=(AppendAt(path=("a",), items=(2,)),))
WATCH = Subscription(call_id="c", name="watch")


def _commit(
    number: int, *entries: Entry, first_seq: int = 1, changes: tuple[Change, ...] = (), **more: Any
) -> Commit:
    numbered = [
        entry.model_copy(update={"seq": first_seq + index, "at": AT}) for index, entry in enumerate(entries)
    ]
    fields = {"thread_id": "t1", "at": AT, "birth": "b", "from_number": 1, "first_seq": first_seq, **more}
    return Commit(number=number, entries=tuple(numbered), changes=changes, **fields)


def _user(text: str) -> User:
    return User(content=text_content(text))


def _state(*changes: Change) -> ThreadState:
    return fold_commits(FoldedThread(), [_commit(1, _user("hi"), changes=changes)]).state


CASES: dict[str, tuple[tuple[Change, ...], dict[str, Any]]] = {
    "owes": ((Owes(to="m1"),), {"owes": True, "owes_to": "m1"}),
    "owes no more": ((Owes(to="m1"), Owes(to=None)), {"owes": False, "owes_to": None}),
    "turns": ((TurnsUsed(turns=3),), {"turns": 3}),
    "credit": ((CreditLeft(tokens=-5),), {"credit": -5}),
    "deferred": ((InputDeferred(deferred=DEFERRED),), {"deferred": (DEFERRED,)}),
    "joined": ((*[InputDeferred(deferred=DEFERRED)] * 3, DeferredJoined(count=2)), {"deferred": (DEFERRED,)}),
    "wake cleared": ((WakeArmed(position=0, reason="continue"), WakeCleared()), {"wake": None}),
    "timer cleared": ((TimerArmed(position=0, due_at=AT), TimerCleared()), {"timer": None}),
    "subscribed": ((SubscriptionOpened(subscription=WATCH),), {"subscriptions": (WATCH,)}),
    "unsubscribed": (
        (SubscriptionOpened(subscription=WATCH), SubscriptionEnded(call_id="c")),
        {"subscriptions": ()},
    ),
    "sources": ((SourcesSet(sources=(SOURCE,)),), {"sources": (SOURCE,)}),
    "state": ((EDITED, EDITED_MORE), {"stored_state": {"a": [1, 2]}}),
    "state set aside": ((EDITED, StateSetAside()), {"stored_state": None, "state_aside": {"a": [1]}}),
    "state taken back": ((EDITED, StateSetAside(), StateTakenBack()), {"stored_state": {"a": [1]}}),
    "state after one set aside": (
        (EDITED, StateSetAside(), EDITED),
        {"stored_state": {"a": [1]}, "state_aside": {"a": [1]}},
    ),
    "usage": (
        tuple(UsageSeen(usage=Usage(input_tokens=number)) for number in range(30)),
        {"past_usage": tuple(Usage(input_tokens=number) for number in range(10, 30))},
    ),
    "closed": ((Closed(),), {"closed": True}),
    "metadata": ((MetadataSet(values={"a": 1}),), {}),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_change_does(case: str) -> None:
    changes, differences = CASES[case]
    assert _state(*changes) == _state().model_copy(update={**differences, "digest": _state(*changes).digest})


def test_an_answer_tells_what_its_turn_took() -> None:
    usage = Usage(input_tokens=7, output_tokens=1)
    answer = SendAnswer(first_seq=1, last_seq=1, final=True, usage=usage, stop_reason="end_turn")
    first = _commit(1, _user("hi"), outbox=(answer,))
    assert fold_commits(FoldedThread(), [first]).state.past_usage == (usage,)


def test_a_call_is_live_from_its_entry_to_its_result() -> None:
    call, other = ToolCall(call_id="c1", name="look"), ToolCall(call_id="c2", name="look")
    opened = CallOpened(call_id="c1", worker="web", deadline_at=AT)
    first = _commit(1, _user("go"), call, other, changes=(opened,))
    state = fold_commits(FoldedThread(), [first]).state
    assert state.live == (
        LiveCall(call_id="c1", seq=2, name="look", worker="web", deadline_at=AT),
        LiveCall(call_id="c2", seq=3, name="look"),
    )
    second = _commit(2, ToolResult(call_id="c1", content=text_content("out")), first_seq=4)
    assert [live.call_id for live in fold_commits(FoldedThread(), [first, second]).state.live] == ["c2"]


def test_what_is_armed_is_known_by_the_commits_digest_and_its_place() -> None:
    commit = _commit(
        1, changes=(WakeArmed(position=3, reason="model", tries=2), TimerArmed(position=4, due_at=AT))
    )
    state = fold_commits(FoldedThread(), [commit]).state
    assert state.wake is not None
    assert state.timer is not None
    assert (state.wake.id, state.wake.tries) == (outbox_id("t1", commit.digest, 3), 2)
    assert state.timer.id == outbox_id("t1", commit.digest, 4)


def test_the_state_names_its_commit() -> None:
    commit = _commit(1, _user("a"), _user("b"), origin=Origin(agent="helper"))
    after = _commit(2, first_seq=3)
    state = fold_commits(FoldedThread(), [commit, after]).state
    assert (state.number, state.digest, state.last_seq, state.birth) == (2, after.digest, 2, "b")
    assert state.origin == Origin(agent="helper")


@pytest.mark.parametrize("numbers", [[2], [1, 3], [1, 1], [2, 1]])
def test_a_gap_is_unreadable(numbers: list[int]) -> None:
    with pytest.raises(UnreadableRecord):
        fold_commits(FoldedThread(), [_commit(number) for number in numbers])


def test_a_base_stands_for_what_was_before_it() -> None:
    summary = Summary(text="so far", up_to_seq=3)
    snapshot = ThreadState(owes=True, owes_to="m9", credit=7, summary=summary)
    held = _commit(4, _user("c"), _user("d"), first_seq=3)
    based = _commit(5, _user("e"), first_seq=5, base=Base(summary=summary, snapshot=snapshot), from_number=4)
    folded = fold_commits(FoldedThread(), [held, based])
    assert [entry.seq for entry in folded.entries] == [4, 5]
    assert (folded.state.owes_to, folded.state.credit, folded.state.number) == ("m9", 7, 5)
    assert folded.commit_holding(4) == 4
    assert folded.commit_holding(5) == 5
    assert folded.commit_holding(6) is None


def test_of_several_bases_the_latest_counts() -> None:
    def base(up_to_seq: int, credit: int) -> Base:
        summary = Summary(text="s", up_to_seq=up_to_seq)
        return Base(summary=summary, snapshot=ThreadState(credit=credit, summary=summary))

    log = [
        _commit(2, _user("b"), first_seq=2, base=base(1, 20), from_number=2),
        _commit(3, _user("c"), first_seq=3, base=base(2, 30), from_number=3),
        _commit(4, _user("d"), first_seq=4, from_number=3),
    ]
    folded = fold_commits(FoldedThread(), log)
    assert folded.state.credit == 30
    assert [entry.seq for entry in folded.entries] == [3, 4]


def test_a_record_says_things_once_and_leaves_out_what_is_empty() -> None:
    record = commit_record(_commit(1, _user("hi")))
    assert record["v"] == SCHEMA_VERSION
    assert set(record) == {"v", "thread_id", "number", "at", "birth", "from", "first_seq", "entries"}
    assert set(record["entries"][0]) == {"kind", "content"}


def test_a_digest_is_of_everything() -> None:
    commit = _commit(1, _user("hi"))
    others: list[dict[str, Any]] = [
        {"thread_id": "t2"},
        {"number": 2},
        {"birth": "c"},
        {"first_seq": 2},
        {"changes": (Closed(),)},
        {"at": AT.replace(year=2026)},
        {"entries": (_user("ho"),)},
    ]
    digests = {Commit(**{**dict(commit), **other}).digest for other in others}
    assert len(digests | {commit.digest}) == len(others) + 1


@pytest.mark.parametrize(
    "damage", [{"v": 2}, {"v": None}, {"number": "x"}, {"at": "today"}, {"entries": [{"kind": "x"}]}]
)
def test_records_written_by_a_newer_version_or_damaged_are_refused_and_never_skipped(
    damage: dict[str, Any],
) -> None:
    record = commit_record(_commit(1, _user("hi")))
    assert read_commit(record) == _commit(1, _user("hi"))
    with pytest.raises(UnreadableRecord):
        read_commit({**record, **damage})


@pytest.mark.parametrize("text", ["", "{", "[]", "7"])
def test_what_is_no_record_is_unreadable(text: str) -> None:
    assert commit_from_text(commit_text(_commit(1))) == _commit(1)
    with pytest.raises(UnreadableRecord):
        commit_from_text(text)
