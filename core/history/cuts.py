"""Where a log can be cut: pure functions behind invariant *safe spawn*, forks and summaries."""

from collections.abc import Sequence

from core.entries import Entry, Reasoning, ToolCall, ToolResult


def safe_cut(entries: Sequence[Entry]) -> int:
    """The highest seq at which cutting keeps *safe spawn*: no live call, no part of a call group, no reasoning last.

    0 if there is none.
    """
    safe, unanswered = 0, set[str]()
    for entry in entries:
        match entry:
            case ToolCall(call_id=call_id):
                unanswered.add(call_id)
            case ToolResult(call_id=call_id):
                unanswered.discard(call_id)
            case _:
                pass
        if not unanswered and not isinstance(entry, Reasoning):
            safe = entry.seq
    return safe


def is_safe_cut(entries: Sequence[Entry], seq: int) -> bool:
    """Whether the log may be cut right after `seq`."""
    upto = [entry for entry in entries if entry.seq <= seq]
    return bool(upto) and upto[-1].seq == seq and safe_cut(upto) == seq
