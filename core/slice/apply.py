"""Taking one input in: duplicates and conflicts first, then what `core.accept` decides, carried out on the history."""

from typing import Literal, assert_never

from core.accept import Effect, Setting, decide
from core.accept.effects import (
    AddSources,
    ArmTimer,
    Begin,
    CloseSubscription,
    Defer,
    EndChild,
    NewUserInput,
    Open,
    OpenSubscription,
    RearmWake,
    Shut,
    SpawnForEvent,
    Stop,
    Take,
    TakeWake,
    Tell,
    TimeOut,
)
from core.commit import Consumed
from core.entries import User
from core.errors import Refused
from core.history.manager import HistoryManager
from core.ids import is_child
from core.messages import Input
from core.outbox import SendError
from core.senders import may_set_metadata, require_sender
from core.slice.children import begin_child, end_child, named, spawn_for_event
from core.slice.debts import forget_wake, stop
from core.slice.ending import shut
from core.slice.metadata import require_room_for_metadata, set_metadata
from core.slice.sources import add_sources

Taken = Literal["accepted", "duplicate", "stale", "returned"]

TIMED_OUT = "No result before the deadline of this call."


def take_input(manager: HistoryManager, taken: Input, setting: Setting) -> Taken:
    """Take one input into the history. Raises Refused if it cannot be accepted; the history is unchanged then.

    `duplicate`: taken in before, by this slice or another (invariant *once*). `stale`: nobody waits for it.
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
        apply_effect(manager, effect, taken)
    if not any(consumed.key == taken.key for consumed in manager.draft.consumed):
        manager.draft.consume(
            Consumed(type=taken.key.type, message_id=taken.key.message_id, body_digest=taken.body_digest)
        )
    if metadata and not is_child(manager.thread_id):
        set_metadata(manager, metadata)
    return "accepted"


def apply_effect(manager: HistoryManager, effect: Effect, taken: Input) -> None:
    """Carry out one effect."""
    draft = manager.draft
    match effect:
        case Take(entry=entry):
            manager.handle_content(named(manager, entry), taken.message_id, taken.body_digest, taken.key)
            if isinstance(entry, User):
                draft.set_state(sources=())
        case Defer(entry=entry):
            manager.defer_content(named(manager, entry), taken.message_id, taken.body_digest, taken.key)
        case Begin(origin=origin):
            draft.set_state(origin=origin)
        case Open(credit=credit, entries=entries):
            begin_child(manager, credit, entries, taken.message_id)
        case NewUserInput(credit=credit):
            draft.set_state(turns=0, credit=draft.state.credit if credit is None else credit)
            forget_wake(manager)
        case AddSources(sources=sources):
            add_sources(manager, sources)
        case OpenSubscription(call_id=call_id, worker=worker):
            manager.track_subscription(call_id, worker)
        case CloseSubscription(call_id=call_id):
            manager.remove_subscription(call_id)
        case SpawnForEvent():
            spawn_for_event(manager, effect, taken.key)
        case EndChild(child=child, credit=credit):
            end_child(manager, child, credit)
        case Stop():
            stop(manager)
        case Shut(report=report):
            shut(manager, report)
        case TimeOut(call_ids=call_ids):
            manager.time_out(call_ids, TIMED_OUT)
        case TakeWake():
            draft.set_state(wake=None)
        case RearmWake(wake=wake):
            draft.arm_wake(wake)
        case ArmTimer(due_at=due_at):
            draft.arm_timer(due_at) if due_at else draft.set_state(timer=None)
        case Tell(code=code, message=message):
            draft.send(SendError(code=code, message=message, message_id=taken.message_id))
        case _:
            assert_never(effect)
