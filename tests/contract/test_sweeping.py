"""What RetentionDays does to a thread, over both stores: it expires, or lives on as soon as anybody comes."""

import pytest

from core.changes import ChildEnded, ChildOpened, TimerArmed
from core.erasing import erase, sweep
from core.fork import fork
from core.keeping import Kept
from core.outbox import SendTimer
from core.thread import Child, Origin
from tests.contract.commits import THREAD, settle, turn
from tests.contract.erasing import (
    RETENTION,
    Interrupted,
    at,
    conversation,
    dies,
    history,
    later,
    removed,
    say,
    traces,
)
from tests.contract.lineages import CHILD
from tests.contract.stores import START, Opened, Stores

LIVES = (Kept(THREAD, "lives"),)


async def swept(opened: Opened, thread_id: str = THREAD) -> list[str]:
    """The threads that a sweep removes."""
    outcomes = await sweep(opened.keeper(), thread_id, opened.clock, RETENTION)
    return [outcome.thread_id for outcome in outcomes if not isinstance(outcome, Kept)]


async def test_a_thread_that_waits_for_nothing_expires(stores: Stores) -> None:
    async with stores.open() as opened:
        await conversation(opened)
        assert await later(opened, days=89) == set()
        assert await sweep(opened.keeper(), THREAD, opened.clock, RETENTION) == LIVES
        assert await later(opened, days=2) == {THREAD}
        assert await swept(opened) == [THREAD]
        assert await history(opened.keeper()) == []
        assert await later(opened, days=61) == {THREAD}
        assert await swept(opened) == [THREAD]
        assert await traces(opened) == set()


async def test_a_thread_that_waits_does_not_expire(stores: Stores) -> None:
    async with stores.open() as opened:
        timer = TimerArmed(position=0, due_at=START)
        waiting = turn(1, changes=[timer], outbox=[SendTimer(due_at=START)])
        await settle(opened.keeper(), waiting, waiting=True)
        assert await later(opened, days=900) == set()
        assert await sweep(opened.keeper(), THREAD, opened.clock, RETENTION) == LIVES


async def test_a_message_between_the_expiry_and_the_sweep_lets_the_thread_live(stores: Stores) -> None:
    async with stores.open() as opened:
        await conversation(opened, 1)
        assert await later(opened, days=91) == {THREAD}
        late = turn(2, at=opened.clock.now())
        await opened.keeper().commit(late)
        assert await swept(opened) == [], "committed, and not settled yet"
        assert (await opened.keeper().load(THREAD)).tip == 0
        assert await later(opened, days=8) == {THREAD}, "nor forgotten, if that is all that ever comes"
        assert await swept(opened) == []
        await settle(opened.keeper(), late)
        assert await swept(opened) == []
        assert len(await history(opened.keeper())) == 4
        assert await later(opened, days=91) == {THREAD}
        assert await swept(opened) == [THREAD]


async def test_a_log_that_was_kept_for_its_reader_goes_with_it(stores: Stores) -> None:
    async with stores.open() as opened:
        store = opened.keeper()
        await conversation(opened, 1)
        opened.clock.advance(30 * 24 * 3600)
        await fork(store, THREAD, 2, "fork", clock=opened.clock)
        assert await later(opened, days=61) == {THREAD}
        assert await sweep(store, THREAD, opened.clock, RETENTION) == (Kept(THREAD, "readers", ("fork",)),)
        assert (await store.load(THREAD)).tip == 1, "who comes back to it is not sent its last answer again"
        assert await later(opened, days=6) == set()
        assert await later(opened, days=24) == {THREAD, "fork"}, "it is looked at again, whoever reads it"
        assert await swept(opened, "fork") == ["fork", THREAD]
        assert await history(store) == []


async def test_of_many_readers_a_sweep_looks_at_no_more_than_it_must(stores: Stores) -> None:
    async with stores.open() as opened:
        await conversation(opened, 1)
        forks = ("fork1", "fork2", "fork3")
        for name in forks:
            await fork(opened.keeper(), THREAD, 2, name, clock=opened.clock)
        await later(opened, days=91)
        store, calls = at(opened.keeper(), 0, dies)
        (kept,) = await sweep(store, THREAD, opened.clock, RETENTION)
        assert (kept, calls.count("state_at")) == (Kept(THREAD, "readers", forks[:1]), 1)
        assert await erase(store, THREAD, opened.clock) == Kept(THREAD, "readers", forks)


async def test_a_longer_retention_is_given_to_what_had_expired_by_the_shorter(stores: Stores) -> None:
    async with stores.open() as opened:
        await conversation(opened, 1)
        await later(opened, days=91)
        longer = RETENTION * 2
        assert await sweep(opened.keeper(), THREAD, opened.clock, longer) == LIVES
        assert (await opened.keeper().load(THREAD)).tip == 1, "it will expire again"


async def test_an_erased_thread_expires_only_when_nothing_old_can_arrive(stores: Stores) -> None:
    async with stores.open() as opened:
        await conversation(opened)
        removed(await erase(opened.keeper(), THREAD, opened.clock))
        assert await later(opened, days=59) == set()
        assert await later(opened, days=2) == {THREAD}
        assert await swept(opened) == [THREAD]
        assert await traces(opened) == set()


async def test_an_end_that_was_interrupted_is_finished_below_the_log_that_has_begun_on_it(
    stores: Stores,
) -> None:
    async with stores.open() as opened:
        await conversation(opened)
        await later(opened, days=91)
        dying, _ = at(opened.keeper(), 5, dies)
        with pytest.raises(Interrupted):
            await sweep(dying, THREAD, opened.clock, RETENTION)
        store = opened.keeper()
        assert len((await store.page(THREAD, 1, 10)).commits) == 4, "ended, and nothing is gone"
        assert (await store.load(THREAD)).metadata == {}
        new = "new " * 20_000
        await say(store, new, message_id="new")
        assert (await store.load(THREAD)).metadata == {}, "nothing of the old log is said of the new one"
        assert await sweep(store, THREAD, opened.clock, RETENTION) == LIVES
        assert [commit.number for commit in (await store.page(THREAD, 1, 10)).commits] == [4, 5]
        assert await history(opened.keeper()) == [new], "its payload in S3 too"


async def test_a_child_that_its_parent_still_waited_for_goes_once_it_has_heard(stores: Stores) -> None:
    async with stores.open() as opened:
        store = opened.keeper()
        opening = ChildOpened(child=Child(thread_id=CHILD, call_id="c"))
        await settle(store, turn(1, changes=[opening]), waiting=True)
        await settle(store, turn(1, thread_id=CHILD, origin=Origin(ancestors=(THREAD,), kind="spawned")))
        assert await later(opened, days=91) == {CHILD}
        assert await sweep(store, CHILD, opened.clock, RETENTION) == (Kept(CHILD, "parent", (THREAD,)),)
        heard = ChildEnded(thread_id=CHILD)
        await settle(store, turn(2, changes=[heard], at=opened.clock.now()))
        assert await later(opened, days=8) == {CHILD}
        assert await swept(opened, CHILD) == [CHILD]
