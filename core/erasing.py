"""Erasing threads: the commit that ends a log, what keeps a log from being ended, and what is done once it stands.

The protocol, correct whoever stops wherever (invariants *one writer*, *never stuck*):

1. the last commit is settled; so each child that it spawns is written down as a reader, and a later one would need the
   number that the erasing commit takes
2. nobody reads the log, and no parent waits for the thread; else it stays as it is
3. the erasing commit is written like any other: whoever loses the race for its number stops
4. readers are looked up again. A fork writes itself down as a reader, then looks at the log's birth, and only then
   begins: either it sees the new birth and gives up, or it is seen here, and what it reads stays until it is gone too
5. what lies below is deleted, then the thread's own `READER#`, at last the tip is moved: it expires when nothing old
   can arrive any more. Its removal lets the last traces go, the erasing commit too, unless another log has begun on it

Every step may be done twice, and whoever comes again goes on with 4, also where another log has begun meanwhile.
"""

from datetime import datetime, timedelta

from core.clock import Clock, iso, parse_iso
from core.commit import Commit, Erased
from core.errors import LostRace
from core.ids import birth_id
from core.keeping import KeepingStore, Kept, Nothing, Outcome, Removed, children_of, log_of
from core.ports import LoadedThread
from core.thread import ThreadState

RACES = 3
"""Lost races after which a thread is too busy to be erased."""
ERASED_LIFETIME = timedelta(days=60)
"""Of the commit that ends a log: as long as anything old can arrive (storage.md)."""
KEPT_AGAIN_AFTER = timedelta(days=7)
"""When a sweep comes again for a thread that it had to leave."""
SETTLED_AFTER = timedelta(days=14)
"""A commit so old, of a thread whose tip has expired, was settled, or nothing is left in a queue that would do it."""


async def erase(
    store: KeepingStore, thread_id: str, clock: Clock, *, after: timedelta | None = None
) -> Outcome:
    """End the thread's log and remove what it held. `after`: only if it has expired, so long after its last commit.

    May be called again at any time, and then finishes what was begun. Raises StoreUnavailable, UnreadableRecord.
    """
    for _ in range(RACES):
        try:
            return await _once(store, thread_id, clock.now(), after)
        except LostRace:
            if after is not None:
                return Kept(thread_id, "lives")
    return Kept(thread_id, "busy")


async def erase_tree(store: KeepingStore, thread_id: str, clock: Clock) -> tuple[Outcome, ...]:
    """Erase the thread and all below it, children first: each outcome, the thread's own last."""
    outcomes: list[Outcome] = []
    for child in await children_of(store, thread_id):
        outcomes += await erase_tree(store, child, clock)
    return (*outcomes, await erase(store, thread_id, clock))


async def sweep(store: KeepingStore, thread_id: str, clock: Clock, after: timedelta) -> tuple[Outcome, ...]:
    """Erase the thread if it has expired, and of the logs that only it still read those that have.

    What stays for now though its tip has gone is to expire again: nobody else would come for it.
    """
    outcomes: list[Outcome] = []
    due = [thread_id]
    while due:
        current = due.pop()
        outcome = await erase(store, current, clock, after=after)
        outcomes.append(outcome)
        if isinstance(outcome, Removed):
            due += outcome.freed
        elif isinstance(outcome, Kept):
            await store.look_again(current, clock.now() + KEPT_AGAIN_AFTER)
    return tuple(outcomes)


def erasing_commit(thread_id: str, state: ThreadState, now: datetime) -> Commit:
    """The commit that ends the log which stands at `state`. Entries go on being numbered behind it."""
    number = state.number + 1
    return Commit(
        thread_id=thread_id,
        number=number,
        at=parse_iso(iso(now)),
        birth=birth_id(thread_id, f"erased {number}"),
        from_number=number,
        first_seq=state.last_seq + 1,
        erased_seq=state.last_seq,
        erased=Erased(reads=tuple(dict.fromkeys(a.thread_id for a in state.origin.lineage))),
    )


async def _once(store: KeepingStore, thread_id: str, now: datetime, after: timedelta | None) -> Outcome:
    loaded = await store.load(thread_id)
    last, state = loaded.last, loaded.folded.state
    if last is None:
        return Nothing(thread_id)
    if last.erased is not None:
        return await _finish(store, last, now, over=loaded.tip == 0 and last.at + ERASED_LIFETIME <= now)
    if state.erased_seq is not None and (ending := await _unfinished(store, last)) is not None:
        await _finish(store, ending, now)
    if after is None:
        kept = _held(last, state, loaded.tip, now)
    else:
        kept = await _alive(store, loaded, last, now, after)
    if kept is not None:
        return kept
    if kept := await _awaited(store, thread_id, state):
        await _stays(store, loaded, last, now, after)
        return kept
    if after is None and last.number > loaded.tip:
        await store.mark(last)
        await store.settled(last, waiting=state.waiting)
    if readers := await _readers(store, thread_id, now, one=after is not None):
        await _stays(store, loaded, last, now, after)
        return Kept(thread_id, "readers", readers)
    erasing = erasing_commit(thread_id, state, now)
    await store.commit(erasing)
    return await _finish(store, erasing, now)


def _held(last: Commit, state: ThreadState, tip: int, now: datetime) -> Kept | None:
    """What the thread itself says against being erased: what it works on is no reason, what waits for its end is."""
    if state.children:
        return Kept(last.thread_id, "children", tuple(child.thread_id for child in state.children))
    settled = last.number <= tip or not last.outbox or (tip == 0 and last.at + SETTLED_AFTER <= now)
    return None if settled else Kept(last.thread_id, "unsettled")


async def _alive(
    store: KeepingStore, loaded: LoadedThread, last: Commit, now: datetime, after: timedelta
) -> Kept | None:
    """Whether the thread has not expired: its tip is there, it waits for something, or somebody has come since. One
    whose retention was made longer meanwhile gets its tip back.
    """
    waiting = loaded.folded.state.waiting
    if loaded.tip == 0 and not waiting and last.at + after <= now:
        return None
    if loaded.tip == 0 and last.at + SETTLED_AFTER <= now:
        await store.settled(last, waiting=waiting)
    return Kept(last.thread_id, "lives")


async def _stays(
    store: KeepingStore, loaded: LoadedThread, last: Commit, now: datetime, after: timedelta | None
) -> None:
    """A tip for what has expired and stays for now: without one, its last answer would be sent again to whoever comes
    back to it.
    """
    if after is not None and loaded.tip == 0 and last.at + SETTLED_AFTER <= now:
        again = last.model_copy(update={"at": now + KEPT_AGAIN_AFTER - after})
        await store.settled(again, waiting=loaded.folded.state.waiting)


async def _unfinished(store: KeepingStore, last: Commit) -> Commit | None:
    """What ended the log before this one, if something is left of that: another log has begun before all was gone."""
    page = await store.page(last.thread_id, 1, 1)
    if all(commit.birth == last.birth for commit in page.commits):
        return None
    return await anext(log_of(store, last.thread_id))


async def _awaited(store: KeepingStore, thread_id: str, state: ThreadState) -> Kept | None:
    """A parent that has the child open still waits for its end (invariant *never stuck*)."""
    parent = state.origin.parent
    newest = await store.newest(parent) if parent is not None else None
    if parent is None or newest is None:
        return None
    waits = (await store.state_at(parent, newest.number)).child(thread_id) is not None
    return Kept(thread_id, "parent", (parent,)) if waits else None


async def _finish(store: KeepingStore, erasing: Commit, now: datetime, *, over: bool = False) -> Outcome:
    """What is left to do once the log is ended. `over`: nothing old can arrive any more."""
    thread_id, reads = erasing.thread_id, erasing.erased.reads if erasing.erased else ()
    if readers := await _last_readers(store, thread_id, now):
        return Kept(thread_id, "readers", readers)
    cleared = await store.clear(erasing)
    await store.drop_readers([(log, thread_id) for log in reads])
    if over:
        await store.bury(erasing)
    else:
        await store.settled(erasing, waiting=False)
    return Removed(thread_id, cleared, reads)


async def _readers(
    store: KeepingStore, thread_id: str, now: datetime, *, one: bool = False
) -> tuple[str, ...]:
    """Who reads the log; `one`: the first that is found, of children for events there may be thousands.

    Those that are gone, or whose id is another thread's, are taken back; those that do not exist are not counted. An
    end gets its tip, unless it is so old that what is left of it may be going just now.
    """
    reading, stale = list[str](), list[str]()
    for reader in await store.readers(thread_id):
        newest = await store.newest(reader)
        if newest is None:
            continue
        if newest.erased is not None and newest.at + ERASED_LIFETIME > now:
            await store.settled(newest, waiting=False)
        reads = newest.erased is None and await _reads(store, newest, thread_id)
        (reading if reads else stale).append(reader)
        if reading and one:
            break
    await store.drop_readers([(thread_id, reader) for reader in stale])
    return tuple(reading)


async def _last_readers(store: KeepingStore, thread_id: str, now: datetime) -> tuple[str, ...]:
    """Who reads a log that is ended. Nobody new can be spawned with it; what else does not exist by now never will."""
    reading = await _readers(store, thread_id, now)
    if reading:
        return reading
    for reader in await store.readers(thread_id):
        await _never(store, reader, now)
    return await _readers(store, thread_id, now)


async def _reads(store: KeepingStore, newest: Commit, log: str) -> bool:
    lineage = (await store.state_at(newest.thread_id, newest.number)).origin.lineage
    return any(ancestor.thread_id == log for ancestor in lineage)


async def _never(store: KeepingStore, thread_id: str, now: datetime) -> None:
    """End the log of a thread that does not exist, so that it never will; one that has come to exist stays."""
    try:
        await store.commit(erasing_commit(thread_id, ThreadState(), now))
    except LostRace:
        return
