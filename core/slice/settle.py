"""Settling the last commit (invariant *settle before next*): its outbox sent, its markers written, then the tip moved.

Idempotent and the same for everyone: the slice that committed, the next one, a duplicate, the dead-letter handler.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.blocks import text_content
from core.delivery import OUTPUT, UNSCHEDULE, outgoing
from core.history.manager import HistoryManager
from core.outbox import Carried
from core.ports import Unsent
from core.slice.ports import SlicePorts
from core.slice.telling import settled
from core.thread import PendingWake

RESEND_FIRST_SECONDS = 5
RESEND_LONGEST_SECONDS = 900


@dataclass(frozen=True, slots=True)
class Leftover:
    """What a settling could not send."""

    carried: tuple[Unsent, ...] = ()
    """Carried on by the draft."""
    lost_outputs: tuple[str, ...] = ()
    """Ids of outputs that can never be sent: to be counted and logged."""


async def settle(manager: HistoryManager, ports: SlicePorts, correlation_id: str | None = None) -> Leftover:
    """Settle the last commit, if it is not. What cannot be sent is put into the draft: carried on, or answered.

    `correlation_id`: what the messages are told to go back to. Raises StoreUnavailable.
    """
    commit = manager.unsettled
    if commit is None:
        return Leftover()
    messages = outgoing(commit, manager.thread_stack, manager.metadata, correlation_id)
    unsent, marked = await asyncio.gather(
        ports.dispatcher.send(messages), ports.store.mark(commit), return_exceptions=True
    )
    if isinstance(unsent, BaseException):
        raise unsent
    if isinstance(marked, BaseException):  # only now: nothing of this slice goes on behind its end
        raise marked
    carried = tuple(one for one in unsent if not _is_final(one))
    ports.witness.hear(settled(commit, messages, unsent, carried))
    lost = tuple(one.message.id for one in unsent if _is_final(one) and one.message.queue == OUTPUT)
    answered = _answer_undeliverable(manager, unsent)
    if carried or answered:
        for one in carried:
            manager.draft.carry(_carried(one))
        manager.excuse_unsent(commit)
        return Leftover(carried, lost)
    await ports.store.settled(commit, waiting=manager.draft.committed.state.waiting)
    manager.note_settled(commit)
    return Leftover(lost_outputs=lost)


def leave_resend_wake(manager: HistoryManager, now: datetime) -> None:
    """See to it that somebody comes back for what is carried: a wake, unless one is waited for anyway."""
    if manager.state.wake is not None:
        return
    before = manager.draft.committed.state.wake
    tries = before.tries + 1 if before is not None and before.reason == "resend" else 0
    delay_seconds = min(RESEND_FIRST_SECONDS * 2 ** min(tries, 20), RESEND_LONGEST_SECONDS)
    due_at = now + timedelta(seconds=delay_seconds)
    manager.draft.arm_wake(PendingWake(id="", reason="resend", due_at=due_at, tries=tries))


def someone_comes(manager: HistoryManager, carried: tuple[Unsent, ...]) -> bool:
    """Whether a wake that is out will come back for `carried`."""
    wake = manager.draft.committed.state.wake
    return wake is not None and wake.id not in {one.message.id for one in carried}


def _is_final(unsent: Unsent) -> bool:
    """Whether nobody needs to try again. Torpor's own wakes and timers are always tried again: the queue is ours to
    mend, and nothing else would come for the thread. A schedule that cannot be taken back fires, which is harmless.
    """
    message = unsent.message
    return unsent.permanent and (message.queue in (OUTPUT, UNSCHEDULE) or message.queue.startswith("worker:"))


def _answer_undeliverable(manager: HistoryManager, unsent: tuple[Unsent, ...]) -> bool:
    """Answer the calls that can never reach their worker. True if there was one that is still live."""
    answered = False
    for one in unsent:
        call_id = one.message.call_id
        if _is_final(one) and call_id is not None and manager.state.live_call(call_id) is not None:
            note = f"The call could not be delivered to its worker: {one.reason}"
            manager.answer_call(call_id, text_content(note), "error")
            answered = True
    return answered


def _carried(unsent: Unsent) -> Carried:
    message = unsent.message
    return Carried(
        id=message.id,
        queue=message.queue,
        group=message.group,
        body=message.body,
        due_at=message.due_at,
        call_id=message.call_id,
        correlation_id=message.correlation_id,
    )
