"""Spawning a child on a draft: its lineage, its share of the credit, and the message that makes it exist.

Apart from the slice because an accepted event spawns one as well as a model's call does.
"""

from core.agent import Agent
from core.changes import ChildOpened
from core.history.cuts import safe_cut
from core.history.draft import ThreadDraft
from core.outbox import SendSpawn, SendSpawned
from core.thread import Ancestor, Child, ThreadState


def lineage_here(draft: ThreadDraft, cutoff_seq: int | None = None) -> tuple[Ancestor, ...]:
    """What a child spawned now inherits: this thread's own lineage, and its log up to the safe point.

    `cutoff_seq`: another safe cut of this log.
    """
    state, summary = draft.state, draft.state.summary
    safe = max(safe_cut(draft.history), summary.up_to_seq if summary else 0)
    cutoff = safe if cutoff_seq is None else cutoff_seq
    inherited = () if summary else state.origin.lineage
    if cutoff == 0 and summary is None:
        return inherited
    own = _range(draft, cutoff)
    return (*inherited, own)


def _range(draft: ThreadDraft, cutoff_seq: int) -> Ancestor:
    """This thread's log up to `cutoff_seq`, as a reader must load it. The cutoff may lie in the next commit."""
    state, next_number = draft.state, draft.committed.state.number + 1
    covered = state.summary is not None and cutoff_seq == state.summary.up_to_seq
    holding = draft.committed.commit_holding(cutoff_seq) or next_number
    return Ancestor(
        thread_id=draft.thread_id,
        cutoff_seq=cutoff_seq,
        first_commit=draft.from_number,
        last_commit=draft.from_number - 1 if covered else holding,
        base=state.base_number,
        after_seq=state.erased_seq,
        hidden=tuple(hidden for hidden in state.hidden if hidden.seq <= cutoff_seq),
    )


def open_child(draft: ThreadDraft, spawn: SendSpawn, child: Child) -> None:
    """Spawn a child, and give it its part of the credit. It exists for its parent from this commit on."""
    draft.record(ChildOpened(child=child))
    draft.send(spawn)
    if child.kind != "compaction":
        draft.set_state(credit=(draft.state.credit or 0) - child.credit)
        draft.send(SendSpawned(child_thread_id=spawn.thread_id, call_id=spawn.call_id))


def played_by(state: ThreadState, agent: Agent) -> str | None:
    """Who plays a child that nobody else is asked for. `agent`: who answers here now, as the app that is deployed says.

    That one where a supervisor chooses, by its name; else whoever was asked for here. None: the app's default.
    """
    return agent.name if state.route else state.origin.agent


def child_of(spawn: SendSpawn) -> Child:
    """The child of a spawn, as its parent knows it."""
    return Child(thread_id=spawn.thread_id, call_id=spawn.call_id, kind=spawn.child_kind, credit=spawn.credit)
