"""Whether a tree of threads rests: what somebody who watches it, as `torpor chat` does, waits for."""

from dataclasses import dataclass
from datetime import datetime

from core.ports import ThreadStore
from core.thread import ThreadState


@dataclass(frozen=True, slots=True)
class TreeSeen:
    """A look at a tree, from one of its threads down."""

    last_seq: int
    """Of the thread itself."""
    rests: bool
    """Whether nothing will happen in it until an event or a person comes."""
    asleep_until: datetime | None = None
    """When something will happen next, if the tree does not rest only because it sleeps."""


async def look(store: ThreadStore, thread_id: str) -> TreeSeen:
    """Look at the thread and at its open children. One that does not exist yet is on its way: it does not rest."""
    state = (await store.load(thread_id)).folded.state
    if not state.exists or _busy(state):
        return TreeSeen(state.last_seq, rests=False)
    asleep = [call.until for call in state.live if call.passive and call.until is not None]
    for child in state.children:
        closed = (await store.load(child.thread_id)).folded.state.closed
        seen = await look(store, child.thread_id)
        # Closed, and open for its parent: its report is on its way.
        if closed or not (seen.rests or seen.asleep_until):
            return TreeSeen(state.last_seq, rests=False)
        asleep += [seen.asleep_until] if seen.asleep_until else []
    return TreeSeen(state.last_seq, rests=not asleep, asleep_until=min(asleep, default=None))


def _busy(state: ThreadState) -> bool:
    works_on = any(not call.passive and call.question is None for call in state.live)
    return state.runnable or works_on or bool(state.deferred)
