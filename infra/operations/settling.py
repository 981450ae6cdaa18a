"""Settling a thread's last commit by hand: what any slice would do first, with the same code and the same ids."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.clock import Clock
from core.correlation import correlation_owed
from core.delivery import outgoing
from core.errors import MisuseError, NoThread
from core.history.manager import HistoryManager
from core.ports import Dispatcher, Model, Outgoing, ThreadStore, Unsent
from core.slice.ports import SlicePorts
from core.slice.settle import settle


@dataclass(frozen=True, slots=True)
class ByHand:
    """What settling a commit came to."""

    number: int
    """Of the last commit."""
    sent: tuple[Outgoing, ...] = ()
    unsent: tuple[Unsent, ...] = ()
    """Not confirmed."""
    settled: bool = True
    """The tip is there. Not so: a message must be carried on, or its call answered, by the thread's next commit."""


@dataclass(slots=True)
class _Recorded:
    """A dispatcher that remembers what became of what it sent."""

    dispatcher: Dispatcher
    sent: list[Outgoing] = field(default_factory=list)
    unsent: list[Unsent] = field(default_factory=list)

    async def send(self, messages: Sequence[Outgoing]) -> tuple[Unsent, ...]:
        unsent = await self.dispatcher.send(messages)
        failed = {one.message.id for one in unsent}
        self.sent += [message for message in messages if message.id not in failed]
        self.unsent += unsent
        return unsent


async def settle_by_hand(store: ThreadStore, dispatcher: Dispatcher, clock: Clock, thread_id: str) -> ByHand:
    """Send the last commit's outbox, write its markers, move the tip. Idempotent; settled already: changes nothing.

    Makes no commit. Raises MisuseError for a thread that is not there, StoreUnavailable.
    """
    manager = await HistoryManager.new_with_history(store, thread_id, clock=clock)
    number = _there(manager, thread_id)
    if manager.unsettled is None:
        return ByHand(number)
    recorded = _Recorded(dispatcher)
    ports = SlicePorts(store, recorded, _no_model, clock)
    await settle(manager, ports, correlation_owed(thread_id, manager.state))
    return ByHand(number, tuple(recorded.sent), tuple(recorded.unsent), manager.unsettled is None)


async def promised(store: ThreadStore, clock: Clock, thread_id: str) -> tuple[Outgoing, ...]:
    """What settling would send: nothing, if the last commit is settled. Raises MisuseError as settling does."""
    manager = await HistoryManager.new_with_history(store, thread_id, clock=clock)
    _there(manager, thread_id)
    last = manager.unsettled
    if last is None:
        return ()
    correlation_id = correlation_owed(thread_id, manager.state)
    return outgoing(last, manager.thread_stack, manager.metadata, correlation_id)


def _there(manager: HistoryManager, thread_id: str) -> int:
    """The number of its last commit. Raises MisuseError if it has none."""
    number = manager.draft.committed.state.number
    if number == 0:
        raise NoThread(thread_id)
    return number


def _no_model(name: str) -> Model:
    raise MisuseError(f"settling asks no model, {name!r} neither")
