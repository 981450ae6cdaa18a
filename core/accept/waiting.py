"""How much may wait while calls are live: a bound on inputs and one on bytes. Shared by user text and events.

Every slice of a thread loads what waits in it: without the second bound, the largest messages, a thousand at a time,
would be more than a function can hold.
"""

from core.accept.effects import Setting
from core.entries import Event, User
from core.errors import Refused
from core.text import wire_json
from core.thread import ThreadState

MAX_WAITING_BYTES = 8_388_608
"""Of all that waits, as JSON."""


def require_room_to_wait(entry: User | Event, state: ThreadState, setting: Setting) -> None:
    """Raises Refused (`busy`) where one more, or so large a one, may not wait."""
    waiting = [deferred.entry for deferred in state.deferred]
    size_bytes = sum(len(wire_json(one.to_json())) for one in (*waiting, entry))
    if len(waiting) >= setting.agent.limits.deferred_inputs or size_bytes > MAX_WAITING_BYTES:
        raise Refused("busy", f"{len(waiting)} inputs wait already: send it again when calls are answered")
