"""A thread's history: the log as one slice sees and extends it, and as authors look at it."""

from core.history.chain import HistoryContext, ProcessorFailed
from core.history.estimates import estimate_tokens
from core.history.manager import HistoryManager
from core.history.permanent import PermanentHistory, Turn
from core.history.processors import (
    keep_recent_messages,
    only_user_messages,
    shrink_results,
    trim_to_tokens,
)
from core.thread import Summary

__all__ = [
    "HistoryContext",
    "HistoryManager",
    "PermanentHistory",
    "ProcessorFailed",
    "Summary",
    "Turn",
    "estimate_tokens",
    "keep_recent_messages",
    "only_user_messages",
    "shrink_results",
    "trim_to_tokens",
]
