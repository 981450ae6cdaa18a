"""Whoever still takes an ended log away when others have finished, and used the id again, meets nothing of theirs."""

import pytest

from core.erasing import erase
from core.errors import MisuseError
from core.fork import fork
from tests.contract.commits import THREAD, turn
from tests.contract.erasing import conversation, history, later, removed, say
from tests.contract.stores import DynamoStores, Stores

LARGE = "large " * 20_000


async def test_the_log_after_the_next_end_keeps_its_payloads(stores: Stores) -> None:
    async with stores.open() as opened:
        store = opened.keeper()
        await conversation(opened)
        removed(await erase(store, THREAD, opened.clock))
        late = await store.newest(THREAD)
        assert late is not None
        await say(store, "in between")
        removed(await erase(store, THREAD, opened.clock))
        await say(store, LARGE, message_id="new")
        await store.clear(late)
        assert await history(opened.keeper()) == [LARGE]


async def test_a_log_that_begins_when_all_traces_have_gone_is_left_alone(stores: Stores) -> None:
    async with stores.open() as opened:
        store = opened.keeper()
        await conversation(opened)
        removed(await erase(store, THREAD, opened.clock))
        late = await store.newest(THREAD)
        assert late is not None
        await later(opened, days=61)
        removed(await erase(store, THREAD, opened.clock))
        assert await store.newest(THREAD) is None
        await say(store, LARGE, message_id="new")
        await store.clear(late)
        assert await history(opened.keeper()) == [LARGE]
        await store.bury(late)
        assert await history(opened.keeper()) == [LARGE]


async def test_no_fork_begins_on_an_end_and_it_is_told_why(stores: Stores) -> None:
    async with stores.open() as opened:
        store = opened.keeper()
        await conversation(opened)
        await fork(store, THREAD, 2, "fork", clock=opened.clock)
        removed(await erase(store, "fork", opened.clock))
        with pytest.raises(MisuseError, match="was erased"):
            await fork(store, THREAD, 2, "fork", clock=opened.clock)
        removed(await erase(store, THREAD, opened.clock))


async def test_a_long_log_that_was_erased_is_passed_over_in_few_requests(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        store = opened.keeper()
        await opened.seed([turn(number) for number in range(1, 101)])
        removed(await erase(store, THREAD, opened.clock))
        await say(store, "new")
        opened.dynamodb.calls.clear()
        (ending,) = (await store.page(THREAD, 1, 1)).commits
        assert (ending.number, len(opened.dynamodb.calls)) == (101, 2)
        (new,) = (await store.page(THREAD, 102, 1)).commits
        assert new.origin is not None
