"""The draft's pure step: what a commit records of it, and in which order its messages leave."""

from datetime import UTC, datetime, timedelta

from core.blocks import text_content
from core.changes import (
    Closed,
    CreditLeft,
    MetadataSet,
    Owes,
    SourcesSet,
    TimerArmed,
    TimerCleared,
    TurnsUsed,
    WakeArmed,
    WakeCleared,
)
from core.commit import Consumed
from core.entries import User
from core.fold import fold_commits
from core.history.draft import ThreadDraft
from core.ids import outbox_id
from core.outbox import Carried, SendCancel, SendError, SendTimer, SendWake
from core.sources import Source
from core.thread import FoldedThread, PendingTimer, PendingWake

NOW = datetime(2025, 1, 1, 0, 0, 0, 123456, tzinfo=UTC)
LATER = NOW + timedelta(seconds=5)
CARRIED = Carried(id="old", queue="worker:web", body="{}")
SOURCE = Source(url="https://example.com", title="t")


def _draft(folded: FoldedThread | None = None) -> ThreadDraft:
    return ThreadDraft("t1", folded or FoldedThread())


def test_an_untouched_draft_says_nothing() -> None:
    draft = _draft()
    assert draft.is_empty
    assert draft.only_carries
    draft.set_state(turns=0, owes=False)
    assert draft.is_empty


def test_a_draft_that_only_carries_is_not_empty() -> None:
    draft = _draft()
    draft.carry(CARRIED)
    assert draft.only_carries
    assert not draft.is_empty
    draft.consume(Consumed(type="cancel", message_id="m", body_digest="d"))
    assert not draft.only_carries


def test_carried_messages_go_first_and_outputs_last() -> None:
    draft = _draft()
    error = SendError(code="model", message="m")
    cancel = SendCancel(call_id="c", worker="web")
    draft.send(error)
    draft.set_state(timer=PendingTimer(id="", due_at=LATER))
    draft.send(cancel)
    draft.arm_wake(PendingWake(id="ignored", reason="continue"))
    draft.carry(CARRIED)
    outbox = draft.build(NOW).outbox
    assert outbox == (CARRIED, cancel, SendWake(due_at=None), SendTimer(due_at=LATER), error)


def test_what_is_armed_is_known_by_its_place_in_the_outbox() -> None:
    draft = _draft()
    draft.carry(CARRIED)
    draft.arm_wake(PendingWake(id="", reason="model", due_at=LATER, tries=2))
    draft.set_state(timer=PendingTimer(id="", due_at=LATER))
    commit = draft.build(NOW)
    assert commit.changes == (
        WakeArmed(position=1, reason="model", due_at=LATER, tries=2),
        TimerArmed(position=2, due_at=LATER),
    )
    state = fold_commits(FoldedThread(), [commit]).state
    assert state.wake is not None
    assert state.timer is not None
    assert state.wake.id == outbox_id("t1", commit.digest, 1)
    assert state.timer.id == outbox_id("t1", commit.digest, 2)


def test_only_what_changed_is_recorded() -> None:
    draft = _draft()
    draft.set_state(owes=True, owes_to="m1", turns=2, credit=5, sources=(SOURCE,), closed=True)
    draft.metadata["k"] = None
    first = draft.build(NOW)
    assert first.changes == (
        Owes(to="m1"),
        TurnsUsed(turns=2),
        CreditLeft(tokens=5),
        SourcesSet(sources=(SOURCE,)),
        Closed(),
        MetadataSet(values={"k": None}),
    )
    after = _draft(fold_commits(FoldedThread(), [first]))
    assert after.build(NOW).changes == ()
    after.set_state(owes=False, owes_to=None)
    assert after.build(NOW).changes == (Owes(to=None),)


def test_what_is_waited_for_no_more_is_cleared_once() -> None:
    draft = _draft()
    draft.arm_wake(PendingWake(id="", reason="continue"))
    draft.set_state(timer=PendingTimer(id="", due_at=LATER))
    after = _draft(fold_commits(FoldedThread(), [draft.build(NOW)]))
    after.set_state(wake=None, timer=None)
    assert after.build(NOW).changes == (WakeCleared(), TimerCleared())
    never = _draft()
    never.arm_wake(PendingWake(id="", reason="continue"))
    never.set_state(wake=None)
    assert never.build(NOW).changes == ()


def test_a_commit_is_told_in_milliseconds_and_its_entries_with_it() -> None:
    draft = _draft()
    draft.append(User(content=text_content("hi")))
    commit = draft.build(NOW)
    assert commit.at == NOW.replace(microsecond=123000)
    assert [(entry.seq, entry.at) for entry in commit.entries] == [(1, commit.at)]
    assert draft.entries[0].at is None


def test_building_is_pure() -> None:
    draft = _draft()
    draft.append(User(content=text_content("hi")))
    draft.arm_wake(PendingWake(id="", reason="continue"))
    assert draft.build(NOW) == draft.build(NOW)
    assert draft.build(NOW).digest == draft.build(NOW).digest
    assert draft.build(NOW).digest != draft.build(LATER).digest
