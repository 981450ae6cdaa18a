"""Forks: a new root thread that shares another thread's log up to a safe point, at the cost of one commit.

Nothing of the original comes along but its history, agent, metadata and stored state: what is live, open or deferred
stays there. The state is the one after the last commit that is shared whole.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from core.changes import Change, MetadataSet, StateEdited
from core.clock import SYSTEM_CLOCK, Clock, iso, parse_iso
from core.commit import Commit, metadata_set
from core.errors import LostRace, MisuseError, NoThread
from core.history.cuts import safe_cut
from core.ids import ROOT_THREAD_ID, birth_id, digest
from core.lineage import ranges_to_read
from core.ports import LoadedThread, ThreadStore
from core.state.edits import edits_between
from core.thread import Ancestor, ForkPoint, Origin, ThreadState


async def fork(
    store: ThreadStore, thread_id: str, at_seq: int, new_thread_id: str, *, clock: Clock = SYSTEM_CLOCK
) -> ForkPoint:
    """Begin `new_thread_id` with the history of `thread_id` up to the safe point at or before `at_seq`.

    Returns that point. The same fork again is a success, whatever became of the new thread since. Raises MisuseError,
    before anything is written, if there is no such thread or safe point, or the new id is no root's or is taken;
    StoreUnavailable: fork again, the new thread may stand already.
    """
    if not ROOT_THREAD_ID.fullmatch(new_thread_id):
        raise MisuseError(f"{new_thread_id!r} cannot name a root thread: 1-100 of A-Za-z0-9_.:- do")
    source = await store.load(thread_id)
    if source.last is None:
        raise NoThread(thread_id)
    shared = await _shared(store, thread_id, at_seq)
    stored = await _stored_state(store, shared)
    first = _first_commit(source, shared, stored, new_thread_id, clock.now())
    if not await _is_there(store, first):
        await _begin(store, source, shared, first)
    return ForkPoint(thread_id=thread_id, seq=shared.cutoff_seq)


async def _shared(store: ThreadStore, thread_id: str, at_seq: int) -> Ancestor:
    """The range of the log that is shared: to the highest safe point that is not beyond `at_seq`."""
    asked = await store.locate(thread_id, at_seq)
    if asked is None:
        raise MisuseError(f"{thread_id!r} has no entry {at_seq}")
    before = await store.inherit([asked])
    cut = max(safe_cut(before.entries), before.summary.up_to_seq if before.summary else 0)
    shared = await store.locate(thread_id, cut)
    if shared is None:
        raise MisuseError(f"{thread_id!r} has no safe point at or before entry {at_seq}")
    return shared


async def _stored_state(store: ThreadStore, shared: Ancestor) -> dict[str, Any]:
    """The own fields of the author's state, as the shared history left them."""
    state = await store.state_at(shared.thread_id, shared.last_commit)
    if state.last_seq > shared.cutoff_seq:
        before = shared.last_commit - 1
        state = await store.state_at(shared.thread_id, before) if before else ThreadState()
    return state.stored_state or {}


def _first_commit(
    source: LoadedThread, shared: Ancestor, stored: dict[str, Any], new_thread_id: str, now: datetime
) -> Commit:
    state, seq = source.folded.state, shared.cutoff_seq
    settled_last = metadata_set(source.last) if source.last is not None else {}
    metadata = {**source.metadata, **settled_last}
    return Commit(
        thread_id=new_thread_id,
        number=1,
        at=parse_iso(iso(now)),
        birth=birth_id(new_thread_id, digest("fork", shared.thread_id, state.birth, seq)),
        from_number=1,
        first_seq=1,
        changes=tuple(_changes(metadata, stored)),
        origin=Origin(
            agent=state.origin.agent,
            lineage=ranges_to_read((*state.origin.lineage, shared)),
            forked_from=ForkPoint(thread_id=shared.thread_id, seq=seq),
        ),
    )


def _changes(metadata: dict[str, Any], stored: dict[str, Any]) -> Iterator[Change]:
    if metadata:
        yield MetadataSet(values=metadata)
    if stored:
        yield StateEdited(edits=edits_between({}, stored))


async def _is_there(store: ThreadStore, first: Commit) -> bool:
    """Whether this fork was made before; settles it. Raises MisuseError if the id has become another thread's."""
    there = await store.load(first.thread_id)
    if there.last is None:
        return False
    if there.last.erased is not None:
        raise MisuseError(
            f"{first.thread_id!r} was erased: for 60 days only a message can begin it again, no fork"
        )
    if there.folded.state.birth != first.birth:
        raise MisuseError(f"{first.thread_id!r} is taken by another thread")
    if there.last.number > there.tip and there.last.number == first.number:
        await _settle(store, there.last)
    return True


async def _begin(store: ThreadStore, source: LoadedThread, shared: Ancestor, first: Commit) -> None:
    """Readers first, then another look, then the commit: whoever erases the source sees the readers or is seen here.

    Nothing but the readers is written ahead: until the commit stands, the new id may still become another thread's.
    """
    await store.mark(first.model_copy(update={"changes": ()}))
    again = await store.load(shared.thread_id)
    if again.folded.state.birth != source.folded.state.birth:
        raise MisuseError(f"{shared.thread_id!r} has just been erased")
    try:
        await store.commit(first)
    except LostRace:
        if not await _is_there(store, first):
            raise
        return
    await _settle(store, first)


async def _settle(store: ThreadStore, first: Commit) -> None:
    await store.mark(first)
    await store.settled(first, waiting=False)
