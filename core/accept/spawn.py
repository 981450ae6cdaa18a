"""Accepting a `spawn`: the child begins to exist, once."""

from datetime import timedelta

from core.accept.effects import Begin, Effect, Open, Setting
from core.messages import Spawn
from core.thread import Origin, ThreadState

SPAWN_LIFETIME = timedelta(days=60)
"""As long as markers are kept: an older spawn could begin a thread that was erased since (storage.md)."""


def accept(message: Spawn, state: ThreadState, setting: Setting) -> tuple[Effect, ...]:
    """No effects for a thread that exists or was erased, or a spawn that is too old."""
    if state.number or state.exists or setting.now - message.spawned_at > SPAWN_LIFETIME:
        return ()
    origin = Origin(
        agent=message.agent,
        kind=message.child_kind,
        ancestors=message.ancestors,
        spawning_call=message.call_id,
        lineage=message.lineage,
    )
    return (Begin(origin), Open(message.credit, message.opening))
