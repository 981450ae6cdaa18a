"""Hiding: what later requests must not show again, because a request with it was blocked, refused or too long.

What came since the model last spoke is hidden first. If that cannot have been it, or was not, whatever is older and of
the same kind goes too: a thread is never poisoned (faults.md). What is stored stays whole.
"""

from collections.abc import Sequence
from typing import Literal

from core.changes import EntriesHidden
from core.entries import AppEntry, Assistant, Entry, Event, Reasoning, ToolCall, ToolResult, TurnEnd, User
from core.history.manager import HistoryManager
from core.render import holds_media, is_long
from core.thread import Hidden

What = Literal["all", "media", "long"]
"""A placeholder for the whole, for each image and document, or besides that for all but the beginning."""

_STRENGTH: dict[What, int] = {"media": 1, "long": 2, "all": 3}
"""Each hides what the ones below it hide: an entry is never shown more of again."""


def hide_cause(manager: HistoryManager, what: What) -> None:
    """Hide the likeliest cause: what is new, else everything older that could be it."""
    shown = [entry for entry in manager.draft.history if not isinstance(entry, TurnEnd | AppEntry)]
    spoken = [
        index for index, entry in enumerate(shown) if isinstance(entry, Assistant | Reasoning | ToolCall)
    ]
    border = spoken[-1] + 1 if spoken else 0
    newest, older = shown[border:], shown[:border]
    affected = _affected(manager, newest, what)
    if not affected or (what == "all" and _was_blocked_before(manager, older)):
        affected = _affected(manager, shown, what)
    if affected:
        manager.draft.record(EntriesHidden(entries=tuple(Hidden(seq=seq, what=what) for seq in affected)))


def _affected(manager: HistoryManager, entries: Sequence[Entry], what: What) -> list[int]:
    known = {hidden.seq for hidden in manager.state.hidden if _STRENGTH[hidden.what] >= _STRENGTH[what]}
    return [entry.seq for entry in entries if entry.seq not in known and _can_be_it(entry, what)]


def _can_be_it(entry: Entry, what: What) -> bool:
    match what:
        case "all":
            return isinstance(entry, User | ToolResult | Event | Assistant)
        case "media":
            return holds_media(entry)
        case "long":
            return holds_media(entry) or is_long(entry)


def _was_blocked_before(manager: HistoryManager, older: Sequence[Entry]) -> bool:
    """Whether the turn before was blocked as well: then the cause was not only what was new there."""
    blocked = {hidden.seq for hidden in manager.state.hidden if hidden.what == "all"}
    inputs = [entry for entry in older if isinstance(entry, User | ToolResult | Event)]
    return bool(inputs) and inputs[-1].seq in blocked
