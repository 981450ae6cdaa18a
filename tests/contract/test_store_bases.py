"""Logs that a base shortens, over both stores: readers start at `from`, and a cutoff may fall inside a commit."""

import pytest

from core.errors import LostRace
from core.fold import fold_commits
from core.thread import FoldedThread
from tests.contract.commits import THREAD, settle, texts, turn, with_base
from tests.contract.stores import Stores


@pytest.mark.parametrize("turns", [4, 30], ids=["a short log", "a log past 16 commits"])
async def test_a_log_loads_from_its_base_on(stores: Stores, turns: int) -> None:
    async with stores.open() as opened:
        before = [turn(number) for number in range(1, turns)]
        base = with_base(turns, before, up_to_seq=2 * (turns - 2), from_number=turns - 1)
        after = turn(turns + 1, first_seq=2 * turns - 1, from_number=base.from_number)
        for commit in (*before, base, after):
            await settle(opened.store, commit)
        for store in (opened.store, opened.another()):
            folded = (await store.load(THREAD)).folded
            assert texts(folded.entries) == [
                f"question {turns - 1}", f"answer {turns - 1}", f"question {turns + 1}", f"answer {turns + 1}"
            ]  # fmt: skip
            assert folded.state.summary is not None
            assert folded.state.number == turns + 1


async def test_a_cutoff_may_fall_inside_a_commit(stores: Stores) -> None:
    async with stores.open() as opened:
        before = [turn(1), turn(2)]
        for commit in (*before, with_base(3, before, up_to_seq=3, from_number=2)):
            await settle(opened.store, commit)
        for store in (opened.store, opened.another()):
            assert texts((await store.load(THREAD)).folded.entries) == ["answer 2"]


async def test_more_than_16_commits_may_stand_before_a_base_that_covers_none_of_them(stores: Stores) -> None:
    async with stores.open() as opened:
        before = [turn(number) for number in range(1, 31)]
        for commit in (*before, with_base(31, before, up_to_seq=6, from_number=4)):
            await settle(opened.store, commit)
        folded = (await opened.another().load(THREAD)).folded
        assert folded.state == (await opened.store.load(THREAD)).folded.state
        assert [entry.seq for entry in folded.entries] == list(range(7, 61))


async def test_the_state_at_a_base_is_the_state_of_the_whole_log(stores: Stores) -> None:
    async with stores.open() as opened:
        before = [turn(number) for number in range(1, 20)]
        base = with_base(20, before, up_to_seq=38, from_number=20)
        for commit in (*before, base):
            await settle(opened.store, commit)
        folded = (await opened.another().load(THREAD)).folded
        assert folded.entries == ()
        assert folded.state == fold_commits(FoldedThread(), [*before, base]).state


async def test_entries_that_a_base_covers_stay_readable(stores: Stores) -> None:
    async with stores.open() as opened:
        before = [turn(number) for number in range(1, 5)]
        for commit in (*before, with_base(5, before, up_to_seq=8, from_number=5)):
            await settle(opened.store, commit)
        assert [entry.seq for entry in await opened.store.entries(THREAD)] == list(range(1, 9))


async def test_a_base_that_loses_the_race_changes_nothing(stores: Stores) -> None:
    async with stores.open() as opened:
        before = [turn(1), turn(2)]
        for commit in (*before, turn(3)):
            await settle(opened.store, commit)
        with pytest.raises(LostRace):
            await opened.store.commit(with_base(3, before, up_to_seq=4, from_number=3))
        assert len((await opened.store.load(THREAD)).folded.entries) == 6
