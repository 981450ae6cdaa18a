"""Taking one input in: duplicates and conflicts first, then what `core.accept` decides, carried out on the history."""

from collections.abc import Mapping
from typing import Any, Literal, assert_never

from core.accept import Effect, Setting, decide
from core.accept.effects import (
    AddSources,
    ArmTimer,
    Begin,
    Defer,
    NewUserInput,
    OpenSubscription,
    RearmWake,
    Shut,
    Stop,
    Take,
    TakeWake,
    Tell,
    TimeOut,
)
from core.commit import Consumed
from core.entries import TurnEnd, User
from core.errors import Refused
from core.history.manager import HistoryManager
from core.ids import is_child
from core.messages import Input
from core.outbox import SendError
from core.senders import may_set_metadata, require_sender
from core.sources import Source
from core.text import canonical_json
from core.thread import Origin

Taken = Literal["accepted", "duplicate", "stale"]

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
            Consumed(type=taken.message.type, message_id=taken.message_id, body_digest=taken.body_digest)
        )
    if metadata and not is_child(manager.thread_id):
        set_metadata(manager, metadata)
    return "accepted"


def apply_effect(manager: HistoryManager, effect: Effect, taken: Input) -> None:
    """Carry out one effect."""
    draft = manager.draft
    match effect:
        case Take(entry=entry):
            manager.handle_content(entry, taken.message_id, taken.body_digest)
            if isinstance(entry, User):
                draft.set_state(sources=())
        case Defer(entry=entry):
            manager.defer_content(entry, taken.message_id, taken.body_digest)
        case Begin(agent=agent):
            draft.set_state(origin=Origin(agent=agent))
        case NewUserInput(credit=credit):
            draft.set_state(turns=0, credit=credit)
            forget_wake(manager)
        case AddSources(sources=sources):
            add_sources(manager, sources)
        case OpenSubscription(call_id=call_id):
            manager.track_subscription(call_id)
        case Stop():
            stop(manager)
        case Shut():
            shut(manager)
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


def stop(manager: HistoryManager) -> None:
    """Interrupt what is live; owe nothing; say so in history if there was anything to stop."""
    busy = manager.state.owes or bool(manager.state.live)
    manager.interrupt()
    if busy:
        manager.draft.append(TurnEnd(reason="cancelled"))
    owe_nothing(manager)


def shut(manager: HistoryManager) -> None:
    """Stop, end the subscriptions, and close."""
    stop(manager)
    for call_id in manager.active_subscriptions:
        manager.remove_subscription(call_id)
    manager.draft.set_state(closed=True)


def owe_nothing(manager: HistoryManager) -> None:
    """Nothing is owed, so no wake is needed to go on. One that comes back for unsent messages stays."""
    manager.draft.set_state(owes=False, owes_to=None)
    forget_wake(manager)


def forget_wake(manager: HistoryManager) -> None:
    """Wait for no wake but one that comes back for unsent messages."""
    if manager.state.wake is not None and manager.state.wake.reason != "resend":
        manager.draft.set_state(wake=None)


def add_sources(manager: HistoryManager, sources: tuple[Source, ...]) -> None:
    """Collect sources for the answer: the first of each URL, as many as an answer can carry."""
    by_url: dict[str, Source] = {}
    for source in (*manager.state.sources, *sources):
        by_url.setdefault(source.url, source)
    kept, room = list[Source](), MAX_SOURCES_BYTES
    for source in list(by_url.values())[:MAX_SOURCES]:
        room -= len(canonical_json(source.to_json())) + 1
        if room >= 0:
            kept.append(source)
    manager.draft.set_state(sources=tuple(kept))


MAX_SOURCES = 100
"""Sources of one answer: bounds what a commit records of them."""
MAX_SOURCES_BYTES = 262_144
"""The same, as ASCII-escaped JSON: an answer that its queue cannot carry would be lost with its text."""


def require_room_for_metadata(manager: HistoryManager, values: Mapping[str, Any]) -> None:
    """Raises Refused before a thread's metadata outgrows what every output and call can carry along."""
    if values and len(canonical_json({**manager.metadata, **values})) > MAX_METADATA_BYTES:
        raise Refused(
            "invalid", f"metadata: a thread holds at most {MAX_METADATA_BYTES:,} bytes of it as JSON"
        )


MAX_METADATA_BYTES = 65_536
"""Of a root's metadata as JSON: it travels in every output and tool call, and must fit one item."""


def set_metadata(manager: HistoryManager, values: Mapping[str, Any]) -> None:
    """Record the keys whose value differs from what is there."""
    known = manager.metadata
    manager.draft.metadata.update(
        {key: value for key, value in values.items() if key not in known or known[key] != value}
    )
