"""Markers, metadata and the tip, over both stores: idempotent, and late ones undo nothing."""

import asyncio
from datetime import timedelta

from core.messages import InputKey
from tests.contract.commits import THREAD, key, made, settle, turn, user, with_metadata
from tests.contract.stores import MemoryStores, Stores

CHILD = f"{THREAD}~child"


async def test_a_commit_is_settled_step_by_step(stores: Stores) -> None:
    async with stores.open() as opened:
        store, commit = opened.store, turn(1)
        await store.commit(commit)
        loaded = await store.load(THREAD, [key(1)])
        assert (loaded.tip, loaded.markers) == (0, {})
        await store.mark(commit)
        loaded = await store.load(THREAD, [key(1)])
        assert (loaded.tip, loaded.markers) == (0, {key(1): "body of m1"})
        await store.settled(commit, waiting=False)
        loaded = await store.load(THREAD, [key(1)])
        assert (loaded.tip, loaded.markers) == (1, {key(1): "body of m1"})


async def test_only_markers_asked_for_are_read_each_once(stores: Stores) -> None:
    async with stores.open() as opened:
        for number in (1, 2):
            await settle(opened.store, turn(number))
        assert (await opened.store.load(THREAD)).markers == {}
        asked = [key(2), key(2), key(9), key(2, "cancel")]
        assert (await opened.store.load(THREAD, asked)).markers == {key(2): "body of m2"}


async def test_types_that_the_fold_remembers_leave_no_marker(stores: Stores) -> None:
    async with stores.open() as opened:
        types = ["user_message", "cancel", "close", "tool_result", "wake", "timer"]
        keys = [InputKey(name, "same id") for name in types]
        await settle(opened.store, made(1, [user("hello")], consumed=keys))
        marked = (await opened.store.load(THREAD, keys)).markers
        assert {marker.type for marker in marked} == {"user_message", "cancel", "close"}


async def test_more_markers_than_one_request_takes(stores: Stores) -> None:
    async with stores.open() as opened:
        keys = [key(number) for number in range(1, 121)]
        await settle(opened.store, made(1, [user("many at once")], consumed=keys))
        assert set((await opened.store.load(THREAD, keys)).markers) == set(keys)


async def test_message_ids_of_any_text_stay_apart(stores: Stores) -> None:
    async with stores.open() as opened:
        keys = [
            InputKey("user_message", text) for text in ("a#b", "a", "é" * 128, "😀", "cancel#a", "\ufffd")
        ]
        await settle(opened.store, made(1, [user("odd ids")], consumed=keys))
        asked = [*keys, InputKey("cancel", "a"), InputKey("user_message", "b")]
        assert set((await opened.store.load(THREAD, asked)).markers) == set(keys)


async def test_settling_twice_and_late_changes_nothing(stores: Stores) -> None:
    async with stores.open() as opened:
        first, second = with_metadata(1, a=1, b="old"), with_metadata(2, b="new", c=None)
        for commit in (first, second):
            await settle(opened.store, commit)
            await opened.store.mark(commit)
            await opened.store.settled(commit, waiting=False)
        before = await opened.store.load(THREAD, [key(1), key(2)])
        late = opened.another()
        await late.mark(first)
        await late.settled(first, waiting=False)
        assert await opened.store.load(THREAD, [key(1), key(2)]) == before
        assert before.tip == 2
        assert before.metadata == {"a": 1, "b": "new", "c": None}


async def test_two_who_settle_the_same_commit_at_once(stores: Stores) -> None:
    async with stores.open() as opened:
        commit = with_metadata(1, user_id="u")
        await opened.store.commit(commit)
        await asyncio.gather(*(settle(store, commit) for store in (opened.store, opened.another())))
        loaded = await opened.store.load(THREAD, [key(1)])
        assert (loaded.tip, dict(loaded.metadata)) == (1, {"user_id": "u"})


async def test_metadata_is_the_roots_for_every_thread_of_the_tree(stores: Stores) -> None:
    async with stores.open() as opened:
        await settle(opened.store, with_metadata(1, user_id="u", nested={"reply": ["to", 0.1, None]}))
        await settle(opened.store, turn(1, thread_id=CHILD))
        metadata = {"user_id": "u", "nested": {"reply": ["to", 0.1, None]}}
        assert (await opened.store.load(CHILD)).metadata == metadata
        assert (await opened.store.load("thread-2")).metadata == {}


async def test_a_child_sets_no_metadata(stores: Stores) -> None:
    async with stores.open() as opened:
        await settle(opened.store, turn(1, thread_id=CHILD, changes=with_metadata(1, user_id="x").changes))
        assert (await opened.store.load(CHILD)).metadata == {}
        assert (await opened.store.load(THREAD)).metadata == {}


async def test_metadata_keys_are_any_text_and_any_number(stores: Stores) -> None:
    async with stores.open() as opened:
        values = {"pk": 1, "sk": 2, "n": 3, "expires_at": 4, "": 5, "a.b #:c": 6, "é😀": 7}
        values |= {f"key {number}": number for number in range(250)}
        await settle(opened.store, with_metadata(1, **values))
        loaded = await opened.another().load(THREAD)
        assert loaded.metadata == values
        assert loaded.tip == 1


async def test_a_tip_moves_only_forward_whoever_moves_it(stores: Stores) -> None:
    async with stores.open() as opened:
        commits = [turn(number) for number in (1, 2, 3)]
        for commit in commits:
            await opened.store.commit(commit)
        for commit in (commits[1], commits[0], commits[2], commits[1]):
            await opened.store.settled(commit, waiting=False)
        assert (await opened.store.load(THREAD)).tip == 3


async def test_what_was_read_is_a_copy(stores: Stores) -> None:
    async with stores.open() as opened:
        await settle(opened.store, with_metadata(1, nested={"list": [1]}))
        loaded = await opened.store.load(THREAD)
        loaded.metadata["nested"]["list"].append(2)
        assert (await opened.store.load(THREAD)).metadata == {"nested": {"list": [1]}}


async def test_markers_outlive_every_queue_and_are_then_forgotten() -> None:
    async with MemoryStores().open() as opened:
        await settle(opened.store, turn(1))
        opened.clock.advance(timedelta(days=59).total_seconds())
        assert set((await opened.store.load(THREAD, [key(1)])).markers) == {key(1)}
        opened.clock.advance(timedelta(days=2).total_seconds())
        assert (await opened.store.load(THREAD, [key(1)])).markers == {}
