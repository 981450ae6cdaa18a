"""The author's state in a slice: what is stored and fits no more goes aside, and inline calls share one instance.

Apart from the calls because it outlives them: what they made of the state becomes part of the turn's commit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.agent import Agent
from core.changes import StateEdited, StateSetAside, StateTakenBack
from core.history.app_log import app_entries
from core.history.manager import HistoryManager
from core.outbox import SendError
from core.request import RequestMessage
from core.slice.sources import add_sources
from core.state.rebuilt import AppMessage, ThreadView
from core.state.shape import StateUnfit
from core.state.stored import BuiltState, build_state, state_change
from core.text import shorten

MAX_REASON_CHARACTERS = 500
SET_ASIDE = "What is stored of this thread's state fits the state type no more. It was set aside: {reason}"


def fit_state(manager: HistoryManager, agent: Agent) -> None:
    """Set aside what is stored and does not fit the agent's state type, and say so; the thread goes on without.

    What was set aside is taken back once it fits again, by another deployment, if nothing was stored since.
    """
    state = manager.state
    if state.closed:
        return
    if state.stored_state is not None:
        if (misfit := _misfit(agent, state.stored_state)) is not None:
            manager.draft.record(StateSetAside())
            reason = shorten(str(misfit), MAX_REASON_CHARACTERS)
            manager.draft.send(SendError(code="state", message=SET_ASIDE.format(reason=reason)))
    elif state.state_aside is not None and _misfit(agent, state.state_aside) is None:
        manager.draft.record(StateTakenBack())


def _misfit(agent: Agent, stored: dict[str, object]) -> StateUnfit | None:
    try:
        build_state(agent.state_type, stored, ThreadView())
    except StateUnfit as error:
        return error
    return None


@dataclass(frozen=True, slots=True)
class SharedState:
    """The state that the inline calls of one turn work on together."""

    built: BuiltState

    @classmethod
    def of(cls, manager: HistoryManager, agent: Agent, messages: Sequence[RequestMessage]) -> "SharedState":
        """`messages`: what the model was given when it made the calls. Raises StateUnfit."""
        app = tuple(AppMessage.read(entry) for entry in app_entries(manager.draft, manager.inherited))
        view = ThreadView(tuple(messages), app, manager.state.sources)
        return cls(build_state(agent.state_type, manager.state.stored_state, view))

    def keep(self, manager: HistoryManager) -> tuple[AppMessage, ...]:
        """Record what the calls made of it. Returns the new messages of the application, which follow the results.

        Raises StateUnfit; nothing is recorded then.
        """
        change = state_change(self.built)
        if change.edits:
            manager.draft.record(StateEdited(edits=change.edits))
        if change.sources:
            add_sources(manager, change.sources)
        return change.app
