"""Accepting a worker's result: the first one of a live call wins, every other changes nothing."""

from core.accept.effects import AddSources, Effect, OpenSubscription, Take, Tell
from core.content import storable
from core.entries import ToolResult
from core.messages import ToolResultMessage
from core.thread import ThreadState


def accept(message: ToolResultMessage, state: ThreadState) -> tuple[Effect, ...]:
    """No effects for a call that is not live: late, doubled, interrupted, unknown, or of a closed thread."""
    call = state.live_call(message.call_id)
    if state.closed or call is None:
        return ()
    outcome = message.outcome or ("error" if message.is_error else "ok")
    effects: list[Effect] = [
        Take(ToolResult(call_id=message.call_id, content=storable(message.content), outcome=outcome))
    ]
    if message.sources:
        effects.append(AddSources(message.sources))
    if message.subscription:
        effects.append(OpenSubscription(message.call_id, call.worker))
    if message.state_patch:
        effects.append(
            Tell("state", f"{message.call_id}: this agent keeps no state, the patch was not applied")
        )
    return tuple(effects)
