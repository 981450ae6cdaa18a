"""Accepting an event: one that nobody waits for changes nothing. An open subscription's is kept for people, for now."""

from core.accept.effects import Effect
from core.errors import Refused
from core.messages import SubscriptionEvent
from core.thread import ThreadState


def accept(message: SubscriptionEvent, state: ThreadState) -> tuple[Effect, ...]:
    """No effects for a closed thread, or an unknown or ended subscription. Raises Refused for an open one."""
    is_open = any(subscription.call_id == message.call_id for subscription in state.subscriptions)
    if state.closed or not is_open:
        return ()
    raise Refused("invalid", "type: this version opens subscriptions, but takes no events of them yet")
