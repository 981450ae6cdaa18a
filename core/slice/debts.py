"""What a thread owes, and stopping: whether it must act is explicit, never guessed from its last entry."""

from core.entries import TurnEnd
from core.history.manager import HistoryManager


def stop(manager: HistoryManager) -> None:
    """Interrupt what is live; owe nothing; say so in history if there was anything to stop."""
    busy = manager.state.owes or bool(manager.state.live)
    manager.interrupt()
    if busy:
        manager.draft.append(TurnEnd(reason="cancelled"))
    owe_nothing(manager)


def owe_nothing(manager: HistoryManager) -> None:
    """Nothing is owed, so no wake is needed to go on. One that comes back for unsent messages stays."""
    manager.draft.set_state(owes=False, owes_to=None, cause=None)
    forget_wake(manager)


def forget_wake(manager: HistoryManager) -> None:
    """Wait for no wake but one that comes back for unsent messages."""
    if manager.state.wake is not None and manager.state.wake.reason != "resend":
        manager.draft.set_state(wake=None)
