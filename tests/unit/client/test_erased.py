"""Threads that were erased: what is told of them, and that nothing of the old log shows in a new one."""

from typing import cast

import pytest

from core.erasing import erase
from core.keeping import KeepingStore, Removed
from infra.client import Ended
from tests.support.client import Talk, talk
from tests.support.inputs import THREAD, user
from tests.support.played import says


async def _erased(*, cleared: bool) -> Talk:
    """A thread of one turn, erased; not `cleared`: whoever erased it died before it deleted anything."""
    one = talk(says("hi"), says("new"), says("newer"))
    await one.world.run(user("hello", "m1"))
    keeper = cast(KeepingStore, one.world.store)
    clear = keeper.clear

    async def die(*asked: object) -> object:
        raise SystemExit

    if not cleared:
        keeper.clear = die  # type: ignore[method-assign, assignment]
        with pytest.raises(SystemExit):
            await erase(keeper, THREAD, one.clock)
        keeper.clear = clear  # type: ignore[method-assign]
    else:
        assert isinstance(await erase(keeper, THREAD, one.clock), Removed)
    return one


@pytest.mark.parametrize("cleared", [True, False])
async def test_an_answer_that_was_erased_is_told_as_such(cleared: bool) -> None:
    one = await _erased(cleared=cleared)
    outcome = await one.client.wait(THREAD, "m1", 60)
    assert isinstance(outcome, Ended)
    assert outcome.reason == "erased"
    assert (await one.client.tree(THREAD)).status == "absent"
    assert [turn async for turn in one.client.turns(THREAD)] == []
    assert [entry async for entry in one.client.follow(THREAD)] == []


@pytest.mark.parametrize("cleared", [True, False])
async def test_a_log_that_begins_anew_is_all_that_is_read(cleared: bool) -> None:
    one = await _erased(cleared=cleared)
    await one.world.run(user("hello again", "m2"))
    assert [turn.answer async for turn in one.client.turns(THREAD)] == ["new"]
    node = await one.client.tree(THREAD)
    assert (node.status, node.last_seq) == ("idle", 4)
    entries = one.client.follow(THREAD)
    assert [(await anext(entries)).seq for _ in range(2)] == [3, 4]
    await entries.aclose()
    assert (await one.client.wait(THREAD, "m2", 0)).kind == "answered"
    outcome = await one.client.wait(THREAD, "m1", 0)
    assert isinstance(outcome, Ended)
    assert outcome.reason == "erased"


async def test_following_ends_when_the_thread_is_erased() -> None:
    one = talk(says("hi"))
    await one.world.run(user("hello", "m1"))
    one.meanwhile(lambda: erase(cast(KeepingStore, one.world.store), THREAD, one.clock))
    assert [entry.seq async for entry in one.client.follow(THREAD)] == [1, 2]
