"""Taking one input in: duplicates and conflicts first, then what `core.accept` decides, carried out on the history."""

from typing import Literal, assert_never

from core.accept import Effect, Setting, decide
from core.accept.effects import (
    AddSources,
    Approve,
    Ask,
    Begin,
    CloseSubscription,
    Defer,
    Deny,
    EditState,
    EndChild,
    EndCompaction,
    EndSleep,
    NewUserInput,
    OfCalls,
    OfTime,
    OfTree,
    Open,
    OpenSubscription,
    RearmWake,
    Shut,
    SpawnForEvent,
    StartCompaction,
    Stop,
    Take,
    TakeTimer,
    TakeWake,
    TakingIn,
    TellWorker,
    TimeOut,
)
from core.blocks import text_content
from core.changes import StateEdited
from core.commit import Consumed
from core.correlation import correlation_owed, correlation_sent
from core.entries import User
from core.errors import Refused
from core.history.manager import HistoryManager
from core.ids import is_child
from core.messages import Input
from core.senders import may_set_metadata, require_sender
from core.slice.children import begin_child, end_child, named, spawn_for_event
from core.slice.compaction import end_compaction, start_compaction
from core.slice.debts import forget_wake, stop
from core.slice.ending import shut
from core.slice.metadata import require_room_for_metadata, set_metadata
from core.slice.questions import approve, ask, tell_worker
from core.slice.sources import add_sources

Taken = Literal["accepted", "duplicate", "stale", "returned"]

SLEPT = "The time has come."


def take_input(manager: HistoryManager, taken: Input, setting: Setting) -> Taken:
    """Take one input into the history. Raises Refused if it cannot be accepted; the history is unchanged then.

    `duplicate`: taken in before, by this slice or another (invariant *once*). `stale`: nobody waits for it. What waits
    sets its metadata when it joins: until then the thread works for somebody else.
    """
    require_sender(setting.senders, taken, manager.state, setting.agent)
    seen = manager.seen(taken.key)
    if seen is not None:
        if seen != taken.body_digest:
            raise Refused(
                "conflict", f"message_id: {taken.message.type} with this id and another body was accepted"
            )
        return "duplicate"
    effects = decide(taken, manager.state, setting)
    if not effects:
        return "stale"
    metadata = taken.message.metadata if may_set_metadata(setting.senders, taken) else None
    require_room_for_metadata(manager, metadata or {})
    for effect in effects:
        apply_effect(manager, effect, taken, setting)
    if not any(consumed.key == taken.key for consumed in manager.draft.consumed):
        manager.draft.consume(
            Consumed(type=taken.key.type, message_id=taken.key.message_id, body_digest=taken.body_digest)
        )
    waits = any(isinstance(effect, Defer) for effect in effects)
    if metadata and not waits and not is_child(manager.thread_id):
        set_metadata(manager, metadata)
    return "accepted"


def apply_effect(manager: HistoryManager, effect: Effect, taken: Input, setting: Setting) -> None:
    """Carry out one effect."""
    if isinstance(effect, TakingIn):
        _take_in(manager, effect, taken)
    elif isinstance(effect, OfCalls):
        _apply_to_calls(manager, effect)
    elif isinstance(effect, OfTree):
        _apply_to_tree(manager, effect, taken, setting)
    elif isinstance(effect, OfTime):
        _apply_in_time(manager, effect)
    else:
        assert_never(effect)


def _take_in(manager: HistoryManager, effect: TakingIn, taken: Input) -> None:
    draft = manager.draft
    match effect:
        case Take(entry=entry):
            manager.handle_content(named(manager, entry), taken.message_id, taken.body_digest, taken.key)
            if isinstance(entry, User):
                draft.set_state(sources=())
            _go_back(manager, taken)
        case Defer(entry=entry):
            working_on = correlation_owed(manager.thread_id, manager.state)
            manager.defer_content(named(manager, entry), taken.message_id, taken.body_digest, taken.key)
            draft.set_state(cause=working_on)
        case Begin(origin=origin):
            draft.set_state(origin=origin)
        case Open(credit=credit, entries=entries):
            begin_child(manager, credit, entries, taken.message_id)
            _go_back(manager, taken)
        case NewUserInput(credit=credit):
            state = draft.state
            turned = state.turned or state.compaction is None
            draft.set_state(turns=0, turned=turned, credit=state.credit if credit is None else credit)
            forget_wake(manager)
        case AddSources(sources=sources):
            add_sources(manager, sources)
        case EditState(edits=edits):
            draft.record(StateEdited(edits=edits))
        case _:
            assert_never(effect)


def _go_back(manager: HistoryManager, taken: Input) -> None:
    """What is owed for a message of another thread's goes back to what that thread worked on."""
    if manager.state.owes_to == taken.message_id and (sent := correlation_sent(taken)) is not None:
        manager.draft.set_state(cause=sent)


def _apply_to_calls(manager: HistoryManager, effect: OfCalls) -> None:
    match effect:
        case TimeOut(call_ids=call_ids, note=note):
            manager.time_out(call_ids, note)
        case EndSleep(call_id=call_id):
            manager.answer_call(call_id, text_content(SLEPT))
        case Ask(call_id=call_id, question=question):
            ask(manager, call_id, question)
        case Approve():
            approve(manager, effect)
        case Deny(call_id=call_id, text=text, outcome=outcome):
            manager.answer_call(call_id, text_content(text), outcome)
        case TellWorker():
            tell_worker(manager, effect)
        case OpenSubscription(call_id=call_id, worker=worker):
            manager.track_subscription(call_id, worker)
        case CloseSubscription(call_id=call_id):
            manager.remove_subscription(call_id)
        case _:
            assert_never(effect)


def _apply_to_tree(manager: HistoryManager, effect: OfTree, taken: Input, setting: Setting) -> None:
    match effect:
        case SpawnForEvent():
            spawn_for_event(manager, setting.agent, effect, taken.key)
        case EndChild(child=child, credit=credit):
            end_child(manager, child, credit)
        case StartCompaction():
            start_compaction(manager, setting.agent, setting.now, blocking=False)
        case EndCompaction():
            end_compaction(manager, setting.agent, effect)
        case _:
            assert_never(effect)


def _apply_in_time(manager: HistoryManager, effect: OfTime) -> None:
    draft = manager.draft
    match effect:
        case Stop():
            stop(manager)
        case Shut(report=report):
            shut(manager, report)
        case TakeTimer():
            draft.set_state(timer=None)
        case TakeWake():
            draft.set_state(wake=None)
        case RearmWake(wake=wake):
            draft.arm_wake(wake)
        case _:
            assert_never(effect)
