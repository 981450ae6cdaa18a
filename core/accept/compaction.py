"""Accepting `compact`, which asks for a compaction, and `compaction_done`, which brings its summary or none."""

from core.accept.effects import Effect, EndCompaction, StartCompaction, require_known, require_open
from core.messages import CompactionDone
from core.thread import ThreadState


def accept_compact(state: ThreadState) -> tuple[Effect, ...]:
    """No effects while one is under way. Raises Refused for an unknown or closed thread."""
    require_open(state)
    require_known(state)
    return () if state.compaction is not None else (StartCompaction(),)


def accept_done(message: CompactionDone, state: ThreadState) -> tuple[Effect, ...]:
    """No effects unless it is the compaction that is waited for."""
    child = state.compaction
    if state.closed or child is None or child.thread_id != message.child_thread_id:
        return ()
    return (EndCompaction(child, message.text),)
