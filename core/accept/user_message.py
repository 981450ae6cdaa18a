"""Accepting user text: it starts a thread, interrupts or waits, and renews the turn and token limits."""

from core.accept.effects import Begin, Defer, Effect, NewUserInput, Setting, Take, require_open
from core.accept.waiting import require_room_to_wait
from core.content import storable
from core.entries import User
from core.errors import Refused
from core.ids import is_child
from core.messages import Input, UserMessage
from core.thread import Origin, ThreadState


def accept(message: UserMessage, taken: Input, state: ThreadState, setting: Setting) -> tuple[Effect, ...]:
    """Raises Refused: the thread is closed, an unknown child, at its bound of waiting inputs, or the agent unknown."""
    require_open(state)
    first = not state.exists
    if first and is_child(taken.message.thread_id):
        raise Refused("unknown_thread", "thread_id: no such child thread exists")
    if first and message.agent is not None and message.agent not in setting.agent_names:
        raise Refused("invalid", f"agent: unknown; there are {', '.join(setting.agent_names)}")
    entry = User(content=storable(message.content), metadata=message.metadata)
    begin: tuple[Effect, ...] = (Begin(Origin(agent=message.agent)),) if first else ()
    fresh = NewUserInput(None if is_child(taken.message.thread_id) else setting.agent.limits.tokens)
    if state.working and _waits(message, setting):
        require_room_to_wait(entry, state, setting)
        return (*begin, Defer(entry), fresh)
    return (*begin, Take(entry), fresh)


def _waits(message: UserMessage, setting: Setting) -> bool:
    return not setting.completing or (message.on_busy or setting.agent.on_busy) == "queue"
