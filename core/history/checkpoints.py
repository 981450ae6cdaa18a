"""When a commit becomes a checkpoint, so that what a cold load reads stays in proportion to what no summary covers.

A thread may get commits for ever and hardly an entry: a child for each of its events, timers that fire, messages that
are carried on. No completion of its own would ever bring it a compaction (invariant *bounded*).
"""

from core.history.draft import ThreadDraft
from core.text import canonical_json

COMMITS = 100
"""So many commits after the one where readers start, and again after each further so many, it is looked at."""
BYTES_PER_COMMIT = 128
"""A checkpoint pays while it takes no more than this of JSON for each commit that it spares: a commit without entries
takes more. So no thread writes more than this per commit beside its commits, and a conversation, whose commits are its
entries, writes none.
"""


def keep_short(draft: ThreadDraft) -> None:
    """Make the next commit a checkpoint if that pays."""
    spared = draft.committed.state.number + 1 - draft.from_number
    if spared >= COMMITS and spared % COMMITS == 0 and _size_bytes(draft) <= spared * BYTES_PER_COMMIT:
        draft.checkpoint()


def _size_bytes(draft: ThreadDraft) -> int:
    """About what a checkpoint would hold, as JSON."""
    return sum(len(canonical_json(value.to_json())) for value in (draft.state, *draft.committed.entries))
