"""Accepting a worker's result: the first one of a live call wins, every other changes nothing."""

from core.accept.effects import AddSources, EditState, Effect, OpenSubscription, Setting, Take
from core.blocks import text_content
from core.content import storable
from core.entries import ToolResult
from core.history.subscriptions import NOT_OPENED, is_full
from core.messages import ToolResultMessage
from core.state.results import with_patch
from core.thread import ThreadState


def accept(message: ToolResultMessage, state: ThreadState, setting: Setting) -> tuple[Effect, ...]:
    """No effects for a call that is not live: late, doubled, interrupted, unknown, or of a closed thread."""
    call = state.live_call(message.call_id)
    if state.closed or call is None:
        return ()
    outcome = message.outcome or ("error" if message.is_error else "ok")
    content = storable(message.content)
    if message.subscription and is_full(state):
        content = (*text_content(NOT_OPENED), *content)
    result = ToolResult(call_id=message.call_id, content=content, outcome=outcome)
    state_type = setting.agent.state_type
    told, edits = with_patch(result, message.state_patch, state_type, state.stored_state)
    effects: list[Effect] = [Take(told)]
    if edits:
        effects.append(EditState(edits))
    if message.sources:
        effects.append(AddSources(message.sources))
    if message.subscription:
        effects.append(OpenSubscription(message.call_id, call.worker))
    return tuple(effects)
