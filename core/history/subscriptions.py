"""Opening and ending subscriptions on a draft."""

from core.changes import SubscriptionEnded, SubscriptionOpened
from core.history.draft import ThreadDraft
from core.outbox import SendCancel
from core.thread import Subscription


def open_for(draft: ThreadDraft, call_id: str, worker: str | None) -> None:
    """Open a subscription for a call of this thread, kept with its name and arguments. Open already: no change."""
    if _open(draft, call_id) is not None:
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
