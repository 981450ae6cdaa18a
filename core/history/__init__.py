"""A thread's history: the log as one slice sees and extends it."""

from core.history.manager import HistoryManager
from core.thread import Summary

__all__ = ["HistoryManager", "Summary"]
