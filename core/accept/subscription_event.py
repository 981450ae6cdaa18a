"""Accepting an event of an open subscription: it joins the thread, or a short-lived child deals with it at once."""

from core.accept.effects import CloseSubscription, Defer, Effect, Setting, SpawnForEvent, Take
from core.accept.waiting import require_room_to_wait
from core.content import storable
from core.entries import Event
from core.errors import Refused
from core.messages import SubscriptionEvent
from core.text import wire_json
from core.thread import ThreadState

MAX_EVENT_BYTES = 786_432
"""Of an event's content as JSON: a child gets it in its spawn, with what stands around it in one message."""
CREDIT_SHARE = 10
"""A child for an event gets this fraction of the thread's credit, and gives back what it does not use."""


def accept(message: SubscriptionEvent, state: ThreadState, setting: Setting) -> tuple[Effect, ...]:
    """No effects for a closed thread, or an unknown or ended subscription.

    Raises Refused at the bound of waiting events (`busy`), and when the credit is spent (`limit`): events renew none.
    """
    opened = next((one for one in state.subscriptions if one.call_id == message.call_id), None)
    if state.closed or opened is None:
        return ()
    if (state.credit or 0) <= 0:
        raise Refused("limit", "no tokens are left for this thread until its next user text")
    event = Event(
        call_id=opened.call_id, name=opened.name, args=opened.args, content=storable(message.content)
    )
    inline = message.associative or _is_deepest(state, setting)
    taken = _joining(event, state, setting) if inline else _apart(event, state, setting)
    return (taken, CloseSubscription(opened.call_id)) if message.final else (taken,)


def _is_deepest(state: ThreadState, setting: Setting) -> bool:
    return len(state.origin.ancestors) >= setting.agent.limits.spawn_depth


def _joining(event: Event, state: ThreadState, setting: Setting) -> Effect:
    if not state.working:
        return Take(event)
    require_room_to_wait(event, state, setting)
    return Defer(event)


def _apart(event: Event, state: ThreadState, setting: Setting) -> Effect:
    open_children = sum(child.kind == "event" for child in state.children)
    if open_children >= setting.agent.limits.deferred_inputs:
        raise Refused("busy", f"{open_children} events are dealt with already: send it again when they are")
    credit = (state.credit or 0) // CREDIT_SHARE
    if open_children and credit < setting.agent.settings.max_output_tokens:
        raise Refused(
            "busy", "other events hold the tokens for this one: send it again when they are dealt with"
        )
    if len(wire_json(event.to_json())) > MAX_EVENT_BYTES:
        raise Refused("invalid", f"content: an event holds at most {MAX_EVENT_BYTES:,} bytes as JSON")
    return SpawnForEvent(event, credit)
