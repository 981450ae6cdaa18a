"""Whether a tree of threads rests: what somebody who watches it, as `torpor chat` does, waits for."""

from dataclasses import dataclass

from core.ports import ThreadStore
from core.thread import LiveCall, ThreadState


@dataclass(frozen=True, slots=True)
class TreeSeen:
    """A look at a tree, from one of its threads down."""

    last_seq: int
    """Of the thread itself."""
    rests: bool
    """Whether nothing will happen in it until an event or a person comes."""


async def look(store: ThreadStore, thread_id: str) -> TreeSeen:
    """Look at the thread and at its open children. One that does not exist yet is on its way: it does not rest."""
    state = (await store.load(thread_id)).folded.state
    if not state.exists or _busy(state):
        return TreeSeen(state.last_seq, rests=False)
    for child in state.children:
        seen = (await store.load(child.thread_id)).folded.state
        # Closed, and open for its parent: its report is on its way.
        if seen.closed or not (await look(store, child.thread_id)).rests:
            return TreeSeen(state.last_seq, rests=False)
    return TreeSeen(state.last_seq, rests=True)


def _busy(state: ThreadState) -> bool:
    waits_on = any(not _waits_for_somebody(call) for call in state.live)
    return state.runnable or waits_on or bool(state.deferred)


def _waits_for_somebody(call: LiveCall) -> bool:
    return call.question is not None or (call.passive and call.until is None)
