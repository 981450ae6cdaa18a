"""What a thread inherits, over both stores: ranges of other logs, with the latest summary that fits."""

import pytest

from core.changes import EntriesHidden
from core.commit import Commit
from core.errors import UnreadableRecord
from core.render import BLOCKED_NOTE
from core.thread import Ancestor, Hidden, Inherited, Summary
from tests.contract.commits import THREAD, settle, texts, turn, with_base
from tests.contract.lineages import CHILD, GRANDCHILD, compact, grow, inheriting, located
from tests.contract.stores import Opened, Stores


async def inherited(opened: Opened, thread_id: str) -> Inherited:
    """What the thread inherits, the same for every container that has not read it."""
    loaded = await opened.another().load(thread_id)
    assert await opened.another().inherit(loaded.folded.state.origin.lineage) == loaded.inherited
    return loaded.inherited


def summary_of(base: Commit) -> Summary:
    assert base.base is not None
    return base.base.summary


def seqs(found: Inherited) -> list[int]:
    return [entry.seq for entry in found.entries]


@pytest.mark.parametrize("cutoff", [1, 3, 4, 6])
async def test_a_child_inherits_up_to_its_cutoff_and_nothing_that_came_after(
    stores: Stores, cutoff: int
) -> None:
    async with stores.open() as opened:
        await grow(opened.store, THREAD, 3)
        origin = inheriting(await located(opened.store, THREAD, cutoff))
        await grow(opened.store, CHILD, 1, origin=origin)
        await settle(opened.store, turn(4))
        assert seqs(await inherited(opened, CHILD)) == list(range(1, cutoff + 1))
        loaded = await opened.another().load(CHILD)
        assert texts(loaded.folded.entries) == [f"{CHILD} 1", "answer 1"]
        assert loaded.folded.state.origin == origin


async def test_three_levels_are_read_oldest_first(stores: Stores) -> None:
    async with stores.open() as opened:
        lineage: list[Ancestor] = []
        for thread_id in (THREAD, CHILD, GRANDCHILD):
            await grow(opened.store, thread_id, 2, origin=inheriting(*lineage))
            lineage.append(await located(opened.store, thread_id, 3))
        await grow(opened.store, f"{THREAD}~last", 1, origin=inheriting(*lineage))
        shown = texts((await inherited(opened, f"{THREAD}~last")).entries)
        assert shown == [
            f"{THREAD} 1", "answer 1", f"{THREAD} 2",
            f"{CHILD} 1", "answer 1", f"{CHILD} 2",
            f"{GRANDCHILD} 1", "answer 1", f"{GRANDCHILD} 2",
        ]  # fmt: skip


@pytest.mark.parametrize("turns", [3, 40], ids=["a short log", "a log past 16 commits"])
async def test_a_base_known_at_spawn_stands_for_what_it_covers(stores: Stores, turns: int) -> None:
    async with stores.open() as opened:
        base = await compact(opened.store, await grow(opened.store, THREAD, turns), up_to_seq=3)
        ancestor = await located(opened.store, THREAD, 2 * turns)
        assert (ancestor.base, ancestor.first_commit) == (base.number, 2)
        await grow(opened.store, CHILD, 1, origin=inheriting(ancestor))
        found = await inherited(opened, CHILD)
        assert found.summary == summary_of(base)
        assert seqs(found) == list(range(4, 2 * turns + 1))


async def test_a_base_that_covers_all_leaves_nothing_to_read(stores: Stores) -> None:
    async with stores.open() as opened:
        base = await compact(opened.store, await grow(opened.store, THREAD, 2), up_to_seq=4)
        ancestor = await located(opened.store, THREAD, 4)
        assert ancestor.first_commit > ancestor.last_commit
        await grow(opened.store, CHILD, 1, origin=inheriting(ancestor))
        assert await inherited(opened, CHILD) == Inherited(summary_of(base))


async def test_a_later_summary_replaces_more_unless_it_goes_beyond_the_cutoff(stores: Stores) -> None:
    async with stores.open() as opened:
        log = await grow(opened.store, THREAD, 4)
        for cutoff, child in ((6, CHILD), (4, GRANDCHILD)):
            await grow(opened.store, child, 1, origin=inheriting(await located(opened.store, THREAD, cutoff)))
        base = await compact(opened.store, log, up_to_seq=5)
        found = await inherited(opened, CHILD)
        assert (found.summary, seqs(found)) == (summary_of(base), [6])
        unfit = await inherited(opened, GRANDCHILD)
        assert (unfit.summary, seqs(unfit)) == (None, [1, 2, 3, 4])


async def test_a_base_covers_the_ancestors_above_it_too(stores: Stores) -> None:
    async with stores.open() as opened:
        await grow(opened.store, THREAD, 2)
        above = await located(opened.store, THREAD, 4)
        log = await grow(opened.store, CHILD, 3, origin=inheriting(above))
        lineage = (above, await located(opened.store, CHILD, 5))
        await grow(opened.store, GRANDCHILD, 1, origin=inheriting(*lineage))
        assert len((await inherited(opened, GRANDCHILD)).entries) == 9
        base = await compact(opened.store, log, up_to_seq=2)
        found = await inherited(opened, GRANDCHILD)
        assert found.summary == summary_of(base)
        assert texts(found.entries) == [f"{CHILD} 2", "answer 2", f"{CHILD} 3"]


async def test_a_thread_with_a_summary_of_its_own_inherits_nothing(stores: Stores) -> None:
    async with stores.open() as opened:
        await grow(opened.store, THREAD, 2)
        origin = inheriting(await located(opened.store, THREAD, 4))
        log = await grow(opened.store, CHILD, 2, origin=origin)
        assert len((await opened.store.load(CHILD)).inherited.entries) == 4
        await compact(opened.store, log, up_to_seq=2)
        for store in (opened.store, opened.another()):
            assert (await store.load(CHILD)).inherited == Inherited()


def hiding(number: int, *hidden: Hidden) -> Commit:
    return turn(number, f"{THREAD} {number}", changes=[EntriesHidden(entries=hidden)])


async def test_what_an_ancestor_hides_of_its_entries_stays_hidden(stores: Stores) -> None:
    async with stores.open() as opened:
        log = [turn(1), hiding(2, Hidden(seq=1, what="all")), hiding(3, Hidden(seq=4, what="all")), turn(4)]
        for commit in log:
            await settle(opened.store, commit)
        await grow(opened.store, CHILD, 1, origin=inheriting(await located(opened.store, THREAD, 6)))
        shown = texts((await inherited(opened, CHILD)).entries)
        assert shown == [BLOCKED_NOTE, "answer 1", f"{THREAD} 2", BLOCKED_NOTE, f"{THREAD} 3", "answer 3"]
        await compact(opened.store, log, up_to_seq=2)
        assert texts((await inherited(opened, CHILD)).entries) == shown[2:]


async def test_what_was_hidden_after_the_cutoff_is_hidden_too_once_a_base_tells(stores: Stores) -> None:
    async with stores.open() as opened:
        log = [*await grow(opened.store, THREAD, 2), hiding(3, Hidden(seq=3, what="all"))]
        await settle(opened.store, log[-1])
        await grow(opened.store, CHILD, 1, origin=inheriting(await located(opened.store, THREAD, 4)))
        await compact(opened.store, log, up_to_seq=2)
        assert texts((await inherited(opened, CHILD)).entries) == [BLOCKED_NOTE, "answer 2"]


async def test_a_base_known_at_spawn_counts_before_it_is_marked(stores: Stores) -> None:
    async with stores.open() as opened:
        log = await grow(opened.store, THREAD, 3)
        log.append(await compact(opened.store, log, up_to_seq=2))
        base = with_base(5, log, up_to_seq=4, from_number=3)
        await opened.store.commit(base)
        ancestor = Ancestor(thread_id=THREAD, cutoff_seq=6, first_commit=3, last_commit=3, base=5)
        await grow(opened.store, CHILD, 1, origin=inheriting(ancestor))
        assert seqs(await inherited(opened, CHILD)) == [5, 6]


@pytest.mark.parametrize(
    "wrong",
    [{"last_commit": 5}, {"cutoff_seq": 7}, {"first_commit": 2}, {"base": 9}, {"thread_id": "nobody"}],
    ids=lambda wrong: next(iter(wrong)),
)
async def test_a_range_that_is_not_there_is_never_taken_as_empty(
    stores: Stores, wrong: dict[str, int]
) -> None:
    async with stores.open() as opened:
        await grow(opened.store, THREAD, 3)
        ancestor = await located(opened.store, THREAD, 6)
        with pytest.raises(UnreadableRecord):
            await opened.another().inherit([ancestor.model_copy(update=wrong)])
