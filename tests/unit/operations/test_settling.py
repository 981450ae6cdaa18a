"""Settling by hand: the same messages under the same ids as a slice sends, once, and no commit."""

import pytest

from core.errors import MisuseError
from core.ports import Outgoing
from infra.operations.settling import ByHand, promised, settle_by_hand
from tests.support.inputs import THREAD, user
from tests.support.played import calls, says
from tests.support.world import WEB, World, world

FETCH = ("fetch", {"url": "u"})


class Died(Exception):
    """The process is gone."""


async def cut_off(one: World) -> None:
    """A slice that commits its turn, and dies before it sends anything."""

    async def die(message: Outgoing) -> None:
        raise Died(message.queue)

    async def live(message: Outgoing) -> None:
        """It is sent."""

    one.dispatcher.on_send = die
    with pytest.raises(ExceptionGroup):
        await one.run(user("go"))
    one.dispatcher.on_send = live


async def by_hand(one: World) -> ByHand:
    return await settle_by_hand(one.store, one.dispatcher, one.clock, THREAD)


async def test_a_commit_that_was_cut_off_is_sent_as_its_slice_would_have() -> None:
    one, other = world(calls(FETCH)), world(calls(FETCH))
    await other.run(user("go"))
    await cut_off(one)
    assert one.dispatcher.sent == []
    would = await promised(one.store, one.clock, THREAD)
    done = await by_hand(one)
    assert (done.number, done.settled, done.unsent) == (1, True, ())
    assert done.sent == would
    sent = [
        {(message.id, message.queue, message.body) for message in it.dispatcher.sent} for it in (one, other)
    ]
    assert sent[0] == sent[1]
    assert len(done.sent) == len(one.dispatcher.sent)
    loaded = await one.store.load(THREAD)
    assert (loaded.tip, loaded.folded.state.number) == (1, 1)


async def test_what_is_settled_is_sent_no_more() -> None:
    one = world(says("hello"))
    await one.run(user("go"))
    sent = list(one.dispatcher.sent)
    assert await by_hand(one) == ByHand(1)
    assert await promised(one.store, one.clock, THREAD) == ()
    assert one.dispatcher.sent == sent


@pytest.mark.parametrize("broken", ["slow", "gone"])
async def test_what_a_queue_does_not_take_leaves_the_commit_unsettled_and_the_log_as_it_is(
    broken: str,
) -> None:
    one = world(calls(FETCH))
    await cut_off(one)
    setattr(one.dispatcher, broken, {WEB})
    done = await by_hand(one)
    assert not done.settled
    assert [(one.message.queue, one.permanent) for one in done.unsent] == [(WEB, broken == "gone")]
    loaded = await one.store.load(THREAD)
    assert (loaded.tip, loaded.folded.state.number) == (0, 1)


async def test_there_must_be_a_thread() -> None:
    with pytest.raises(MisuseError, match="no thread"):
        await by_hand(world())
