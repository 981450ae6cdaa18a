"""A thread's history: the log as one slice sees and extends it, and as authors look at it."""

from core.history.manager import HistoryManager
from core.history.permanent import PermanentHistory, Turn
from core.thread import Summary

__all__ = ["HistoryManager", "PermanentHistory", "Summary", "Turn"]
