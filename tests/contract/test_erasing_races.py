"""Erasing against everybody else, at every call: whoever loses stops, nobody reads what is gone, and who is
interrupted is followed by another.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

import pytest

from core.erasing import erase, sweep
from core.errors import LostRace, MisuseError, UnreadableRecord
from core.fork import fork
from core.history import HistoryManager
from core.keeping import Kept, Removed
from tests.contract.commits import THREAD, texts
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
from tests.contract.stores import DynamoStores, KeepsThreads, MemoryStores, Opened, Stores

MOST_CALLS = 30
each_side = pytest.mark.parametrize("after", [False, True], ids=["before", "after"])


@pytest.fixture(params=["memory", pytest.param("dynamodb", marks=pytest.mark.slow)])
def stores(request: pytest.FixtureRequest) -> Stores:
    """Each store in turn: the order of calls is the core's, and the same over both."""
    if request.param == "memory":
        return MemoryStores()
    return DynamoStores(request.getfixturevalue("aws_endpoint"))


async def at_every_call(
    stores: Stores,
    after: bool,
    work: Callable[[Opened, KeepsThreads], Awaitable[None]],
    meanwhile: Callable[[Opened], Awaitable[None]],
    check: Callable[[Opened], Awaitable[None]],
) -> None:
    """Do `work`, and `meanwhile` at its first call; then again at its second, and so on; `check` what is left of it."""
    for number in range(1, MOST_CALLS):
        async with stores.open() as opened:
            await conversation(opened)
            store, calls = at(opened.keeper(), number, partial(meanwhile, opened), after=after)
            await work(opened, store)
            if len(calls) < number:
                return
            await check(opened)
    raise AssertionError("it has no end")


async def forked(opened: Opened) -> bool:
    try:
        await fork(opened.keeper(), THREAD, 4, "fork", clock=opened.clock)
    except MisuseError:
        return False
    return True


async def reads_all_or_is_not_there(opened: Opened) -> None:
    """A fork that exists reads what it shares; one that does not keeps nothing."""
    store = opened.keeper()
    there = await store.load("fork")
    if there.folded.state.exists:
        manager = await HistoryManager.new_with_history(store, "fork")
        assert texts(manager.history) == ["question 1", "answer 1", "question 2", "answer 2"]
        assert await erase(store, THREAD, opened.clock) == Kept(THREAD, "readers", ("fork",))
        outcome = await erase(store, "fork", opened.clock)
        assert isinstance(outcome, Removed)
        assert outcome.freed == (THREAD,)
    removed(await erase(store, THREAD, opened.clock))
    assert await store.readers(THREAD) == ()
    assert await history(store) == []


@each_side
async def test_a_fork_in_the_midst_of_an_erase(stores: Stores, after: bool) -> None:
    async def work(opened: Opened, store: KeepsThreads) -> None:
        await erase(store, THREAD, opened.clock)

    async def meanwhile(opened: Opened) -> None:
        await forked(opened)

    await at_every_call(stores, after, work, meanwhile, reads_all_or_is_not_there)


@each_side
async def test_an_erase_in_the_midst_of_a_fork(stores: Stores, after: bool) -> None:
    async def work(opened: Opened, store: KeepsThreads) -> None:
        with suppress(MisuseError, LostRace, UnreadableRecord):  # the last: it went while it was being read
            await fork(store, THREAD, 4, "fork", clock=opened.clock)

    async def meanwhile(opened: Opened) -> None:
        await erase(opened.keeper(), THREAD, opened.clock)

    await at_every_call(stores, after, work, meanwhile, reads_all_or_is_not_there)


@each_side
async def test_a_message_in_the_midst_of_an_erase(stores: Stores, after: bool) -> None:
    async def work(opened: Opened, store: KeepsThreads) -> None:
        removed(await erase(store, THREAD, opened.clock))

    async def meanwhile(opened: Opened) -> None:
        await say(opened.keeper(), "hello")

    async def check(opened: Opened) -> None:
        """It was part of the log that ended, or is the first of the next; said again, it is a duplicate."""
        store = opened.keeper()
        was = await history(store)
        assert was in ([], ["hello"])
        if was:
            assert not await say(store, "hello")
            assert await say(store, "more")
            assert await history(store) == ["hello", "more"]

    await at_every_call(stores, after, work, meanwhile, check)


@each_side
async def test_an_erase_in_the_midst_of_a_slice(stores: Stores, after: bool) -> None:
    async def work(opened: Opened, store: KeepsThreads) -> None:
        try:
            await say(store, "hello")
        except LostRace:
            await say(opened.keeper(), "hello")

    async def meanwhile(opened: Opened) -> None:
        removed(await erase(opened.keeper(), THREAD, opened.clock))

    async def check(opened: Opened) -> None:
        store = opened.keeper()
        assert await history(store) in ([], ["hello"])
        assert await say(store, "more")
        assert (await history(store))[-1] == "more"

    await at_every_call(stores, after, work, meanwhile, check)


@each_side
async def test_two_that_erase_the_same_thread(stores: Stores, after: bool) -> None:
    async def work(opened: Opened, store: KeepsThreads) -> None:
        removed(await erase(store, THREAD, opened.clock))

    async def meanwhile(opened: Opened) -> None:
        removed(await erase(opened.keeper(), THREAD, opened.clock))

    async def check(opened: Opened) -> None:
        assert await history(opened.keeper()) == []
        assert await say(opened.keeper(), "new")
        assert await history(opened.keeper()) == ["new"]

    await at_every_call(stores, after, work, meanwhile, check)


async def test_an_erase_that_is_interrupted_anywhere_is_finished_by_the_next(stores: Stores) -> None:
    for after in (False, True):
        number, over = 0, False
        while not over:
            number += 1
            async with stores.open() as opened:
                await conversation(opened)
                store, _ = at(opened.keeper(), number, dies, after=after)
                try:
                    await erase(store, THREAD, opened.clock)
                    over = True
                except Interrupted:
                    pass
                removed(await erase(opened.keeper(), THREAD, opened.clock))
                assert await traces(opened) == {"C", "TIP", "META", "MSG"}
                assert await history(opened.keeper()) == []
                assert await later(opened, days=60, seconds=2) == {THREAD}
                removed(await erase(opened.keeper(), THREAD, opened.clock))
                assert await traces(opened) == set()
                assert await say(opened.keeper(), "new", message_id="m1")
                assert await history(opened.keeper()) == ["new"]


async def test_a_message_in_the_midst_of_a_sweep_lets_the_thread_live_or_begins_another(
    stores: Stores,
) -> None:
    for number in range(1, 20):
        async with stores.open() as opened:
            await conversation(opened, 1)
            await later(opened, days=91)

            async def hello(opened: Opened = opened) -> None:
                await say(opened.keeper(), "hello")

            store, calls = at(opened.keeper(), number, hello)
            (outcome,) = await sweep(store, THREAD, opened.clock, RETENTION)
            if len(calls) < number:
                return
            lives = isinstance(outcome, Kept)
            before = ["question 1", "answer 1"] if lives else []
            assert await history(opened.keeper()) == [*before, "hello"]
