"""The sweeper's handler: a thread that cannot be swept keeps no other waiting, and is not forgotten."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from core.errors import StoreUnavailable, UnreadableRecord
from core.messages import InputKey
from core.ports import LoadedThread
from handlers.sweeper import LOOK_AGAIN, handle_event
from handlers.sweeper_container import SweeperContainer
from infra.local.expiry import removal_record
from infra.memory import MemoryClock, MemoryStore
from tests.contract.commits import turn
from tests.contract.stores import START

RETENTION = timedelta(days=90)
GOOD, BAD, LAST = "t1", "t2", "t3"
OTHERS = (
    removal_record({"pk": {"S": f"T#{LAST}"}, "sk": {"S": "MSG#user_message#m1"}}, 0),
    {**removal_record({"pk": {"S": f"T#{LAST}"}, "sk": {"S": "TIP"}}, 0), "eventName": "MODIFY"},
)
"""Changes that end no thread."""


class Failing(MemoryStore):
    """Fails for one thread."""

    error: Exception | None = None
    frozen = False

    async def look_again(self, thread_id: str, at: datetime) -> None:
        if self.frozen:
            raise StoreUnavailable("throttled")
        await super().look_again(thread_id, at)

    async def load(self, thread_id: str, keys: Sequence[InputKey] = ()) -> LoadedThread:
        if self.error is not None and thread_id == BAD:
            raise self.error
        return await super().load(thread_id, keys)


async def expired() -> tuple[Failing, MemoryClock]:
    """Three threads whose tips have gone."""
    clock = MemoryClock(START)
    store = Failing(clock)
    for thread_id in (GOOD, BAD, LAST):
        commit = turn(1, thread_id=thread_id)
        await store.commit(commit)
        await store.settled(commit, waiting=False)
    clock.advance(RETENTION.total_seconds() + 2)
    assert set(store.expire(clock.now())) == {GOOD, BAD, LAST}
    return store, clock


async def swept(store: MemoryStore, clock: MemoryClock, *thread_ids: str) -> list[str]:
    """Where the stream begins again, if it does."""
    nothing: Any = None
    container = SweeperContainer(store, RETENTION, clock, nothing, nothing, nothing)
    keys = [{"pk": {"S": f"T#{thread_id}"}, "sk": {"S": "TIP"}} for thread_id in thread_ids]
    records = [removal_record(key, number) for number, key in enumerate(keys, 1)]
    answer = await handle_event({"Records": [*OTHERS, *records]}, container)
    return [str(int(cast(str, one["itemIdentifier"]))) for one in answer["batchItemFailures"]]


@pytest.mark.parametrize("error", [UnreadableRecord("newer"), KeyError("a bug")])
async def test_a_thread_that_cannot_be_swept_holds_up_no_other_and_is_looked_at_again(
    error: Exception,
) -> None:
    store, clock = await expired()
    store.error = error
    assert await swept(store, clock, GOOD, BAD, LAST) == []
    assert [bool(await store.entries(thread_id)) for thread_id in (GOOD, BAD, LAST)] == [False, True, False]
    clock.advance(LOOK_AGAIN.total_seconds() + 1)
    assert store.expire(clock.now()) == (BAD,)
    store.error = None
    assert await swept(store, clock, BAD) == []
    assert await store.entries(BAD) == ()


async def test_a_sweep_that_may_work_in_a_moment_comes_again_and_is_not_lost_with_its_record() -> None:
    store, clock = await expired()
    store.error = StoreUnavailable("throttled")
    assert await swept(store, clock, GOOD, BAD, LAST) == ["2"]
    assert await store.entries(LAST) != ()
    clock.advance(LOOK_AGAIN.total_seconds() + 1)
    assert store.expire(clock.now()) == (BAD,), "though the stream forgets its records after a day"


async def test_other_changes_end_no_thread() -> None:
    store, clock = await expired()
    assert await swept(store, clock) == []
    assert await store.entries(LAST) != ()


async def test_what_cannot_be_looked_at_again_stays_in_the_stream() -> None:
    store, clock = await expired()
    store.error, store.frozen = KeyError("a bug"), True
    assert await swept(store, clock, GOOD, BAD, LAST) == ["2"]
