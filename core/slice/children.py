"""What accepted messages between threads do to a draft: a child begins, one is spawned for an event, one ends."""

from collections.abc import Sequence
from typing import TypeVar

from core.accept.effects import SpawnForEvent
from core.agent import Agent
from core.changes import ChildEnded
from core.child_messages import SPAWN_TOOL
from core.entries import Entry, Event, ToolCall
from core.history.manager import HistoryManager
from core.ids import child_thread_id, event_cause
from core.messages import InputKey
from core.outbox import SendSpawn, SendThreadClosed
from core.spawning import child_of, lineage_here, open_child, played_by
from core.thread import Child

E = TypeVar("E", bound=Entry)


def begin_child(manager: HistoryManager, credit: int, opening: Sequence[Entry], message_id: str) -> None:
    """The child's first entries; it owes its parent an answer."""
    for entry in opening:
        manager.draft.append(entry.model_copy(update={"message_id": message_id}))
    manager.draft.set_state(credit=credit)
    manager.owe(message_id)


def spawn_for_event(manager: HistoryManager, agent: Agent, effect: SpawnForEvent, key: InputKey) -> None:
    """Spawn a short-lived child for this one event."""
    draft, state = manager.draft, manager.state
    cause = event_cause(manager.thread_id, draft.birth, key.message_id)
    spawn = SendSpawn(
        thread_id=child_thread_id(manager.thread_stack[0], cause),
        call_id=effect.event.call_id,
        child_kind="event",
        agent=played_by(state, agent),
        credit=effect.credit,
        lineage=lineage_here(draft),
        event=effect.event,
    )
    open_child(draft, spawn, child_of(spawn))


def end_child(manager: HistoryManager, child: Child, credit: int) -> None:
    """The child is open no more; `credit` is this thread's from now on."""
    draft = manager.draft
    draft.record(ChildEnded(thread_id=child.thread_id))
    draft.set_state(credit=credit)
    draft.send(SendThreadClosed(child_thread_id=child.thread_id, call_id=child.call_id))


def named(manager: HistoryManager, entry: E) -> E:
    """The entry; a report's event with name and arguments of the call it is for, if that is still there."""
    if not isinstance(entry, Event) or entry.name:
        return entry
    calls = {e.call_id: e for e in manager.draft.history if isinstance(e, ToolCall)}
    call = calls.get(entry.call_id)
    name, args = (call.name, call.args) if call is not None else (SPAWN_TOOL, {})
    return entry.model_copy(update={"name": name, "args": args})
