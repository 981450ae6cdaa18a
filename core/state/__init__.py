"""State: the small stored part of a thread that its author defines, and the views of the log around it."""

from core.sources import Source
from core.state.agent_state import AgentState
from core.state.global_state import GlobalState
from core.state.rebuilt import AppMessage
from core.state.shape import StateUnfit

__all__ = ["AgentState", "AppMessage", "GlobalState", "Source", "StateUnfit"]
