"""Opening and ending subscriptions on a draft. They are bounded: every slice reads those that have not ended."""

from core.changes import SubscriptionEnded, SubscriptionOpened
from core.history.draft import ThreadDraft
from core.outbox import SendCancel
from core.thread import Subscription, ThreadState

MAX_SUBSCRIPTIONS = 1_000
"""Open ones of a thread."""
NOT_OPENED = (
    f"[No events will come of this call: {MAX_SUBSCRIPTIONS:,} subscriptions are open. End one first.]"
)
"""Stands before the result of a call that would open one more."""


def is_full(state: ThreadState) -> bool:
    """Whether no further subscription may be opened."""
    return len(state.subscriptions) >= MAX_SUBSCRIPTIONS


def open_for(draft: ThreadDraft, call_id: str, worker: str | None) -> None:
    """Open a subscription for a call of this thread, kept with its name and arguments. Open already: no change.

    At the bound none is opened, and its worker is told that nobody waits for its events.
    """
    if _open(draft, call_id) is not None:
        return
    if is_full(draft.state):
        if worker is not None:
            draft.send(SendCancel(call_id=call_id, worker=worker))
        return
    call = draft.call_entry(call_id)
    opened = Subscription(call_id=call_id, name=call.name, args=call.args, worker=worker)
    draft.record(SubscriptionOpened(subscription=opened))


def end(draft: ThreadDraft, call_id: str, tell_worker: bool) -> None:
    """End a subscription, and tell its worker that nobody waits for its events. None open: no change."""
    subscription = _open(draft, call_id)
    if subscription is None:
        return
    draft.record(SubscriptionEnded(call_id=call_id))
    if tell_worker and subscription.worker is not None:
        draft.send(SendCancel(call_id=call_id, worker=subscription.worker))


def _open(draft: ThreadDraft, call_id: str) -> Subscription | None:
    return next((one for one in draft.state.subscriptions if one.call_id == call_id), None)
