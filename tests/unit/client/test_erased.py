"""Threads that were erased: what is told of them, and that nothing of the old log shows in a new one."""

from typing import cast

import pytest

from core.commit import Erased
from core.erasing import erase
from core.keeping import KeepingStore, Removed
from core.messages import InputKey
from core.outbox import SendSpawn
from core.thread import Origin
from infra.client import Ended
from infra.client.endings import Search
from tests.contract.commits import made
from tests.contract.commits import user as said
from tests.support.client import Talk, talk
from tests.support.inputs import THREAD, close, user
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


async def test_a_log_that_begins_anew_while_it_is_followed_goes_on() -> None:
    one = talk(says("hi"), says("new"))
    await one.world.run(user("hello", "m1"))

    async def anew() -> None:
        await erase(cast(KeepingStore, one.world.store), THREAD, one.clock)
        await one.world.run(user("hello again", "m2"))

    one.meanwhile(anew, lambda: one.world.run(close()))
    assert [entry.seq async for entry in one.client.follow(THREAD)] == [1, 2, 3, 4]


def test_a_log_that_began_without_the_message_is_another() -> None:
    first = made(7, [said("hello")], consumed=[InputKey("user_message", "m2")], origin=Origin())
    ended = Search(THREAD, "m1").see(first)
    assert isinstance(ended, Ended)
    assert ended.reason == "erased"


async def test_children_of_an_erased_log_are_none_of_a_new_ones() -> None:
    one = talk()
    spawn = SendSpawn(thread_id=f"{THREAD}~c", call_id="call_1", child_kind="spawned", credit=1)
    old = made(1, [said("go")], thread_id=THREAD, outbox=[spawn], origin=Origin())
    erasing = made(2, first_seq=2, thread_id=THREAD).model_copy(update={"erased": Erased(), "erased_seq": 1})
    new = made(3, [said("go")], first_seq=2, thread_id=THREAD, origin=Origin())
    for commit in (old, erasing, new.model_copy(update={"erased_seq": 1})):
        await one.world.store.commit(commit)
    assert (await one.client.tree(THREAD)).children == ()


async def test_following_ends_when_the_thread_is_erased() -> None:
    one = talk(says("hi"))
    await one.world.run(user("hello", "m1"))
    one.meanwhile(lambda: erase(cast(KeepingStore, one.world.store), THREAD, one.clock))
    assert [entry.seq async for entry in one.client.follow(THREAD)] == [1, 2]
