"""Forks that something comes between, and what a fork is to the slice that goes on with it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.errors import LostRace, MisuseError, StoreUnavailable
from core.fork import fork
from core.messages import InputKey
from core.ports import LoadedThread
from core.render import render
from core.settings import Limits
from infra.memory import MemoryStore
from tests.support.faulty import Crash, FaultyStore
from tests.support.inputs import THREAD, message, user
from tests.support.played import calls, says
from tests.support.world import World, world

NEW = "new"


async def talked(world: World) -> MemoryStore:
    """User, answer: two entries."""
    await world.run(user("hello", metadata={"user_id": "u"}))
    assert isinstance(world.store, MemoryStore)
    return world.store


STEPS = ["load", "mark", "commit", "settled"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_a_fork_that_broke_off_is_made_whole_by_the_next(step: str, after: bool) -> None:
    here = world(says("hi"), says("again"))
    store = await talked(here)
    faulty = FaultyStore(store)
    (faulty.after if after else faulty.before)[step] = Crash()
    with pytest.raises(Crash):
        await fork(faulty, THREAD, 2, NEW, clock=here.clock)
    here.clock.advance(60)
    await fork(store, THREAD, 2, NEW, clock=here.clock)
    loaded = await store.load(NEW)
    assert (loaded.tip, loaded.metadata, len(loaded.inherited.entries)) == (1, {"user_id": "u"}, 2)
    assert await store.readers(THREAD) == (NEW,)


async def test_an_id_that_is_taken_meanwhile_keeps_its_own_metadata() -> None:
    here = world(says("hi"), says("mine"))
    store = await talked(here)

    class Overtaken(FaultyStore):
        async def mark(self, commit: object) -> None:
            await super().mark(commit)  # type: ignore[arg-type]
            other = replace(here, thread_id=NEW)
            await other.run(message("user_message", "m9", thread_id=NEW, content="first!"))

    with pytest.raises(MisuseError, match="taken"):
        await fork(Overtaken(store), THREAD, 2, NEW, clock=here.clock)
    loaded = await store.load(NEW)
    assert (loaded.metadata, loaded.inherited.entries) == ({}, ())


async def test_a_source_that_is_erased_meanwhile_is_not_forked() -> None:
    here = world(says("hi"))
    store = await talked(here)

    class Erased(FaultyStore):
        looks = 0

        async def load(self, thread_id: str, keys: Sequence[InputKey] = ()) -> LoadedThread:
            loaded = await super().load(thread_id, keys)
            self.looks += thread_id == THREAD
            if self.looks < 2:
                return loaded
            reborn = loaded.folded.state.model_copy(update={"birth": "another"})
            return replace(loaded, folded=replace(loaded.folded, state=reborn))

    with pytest.raises(MisuseError, match="erased"):
        await fork(Erased(store), THREAD, 2, NEW, clock=here.clock)
    assert (await store.load(NEW)).last is None


@pytest.mark.parametrize("failure", [StoreUnavailable("slow"), LostRace("not ours")])
async def test_failures_of_the_store_come_out_as_they_are(failure: Exception) -> None:
    here = world(says("hi"))
    faulty = FaultyStore(await talked(here))
    faulty.before["commit"] = failure
    with pytest.raises(type(failure)):
        await fork(faulty, THREAD, 2, NEW, clock=here.clock)


async def test_a_fork_goes_on_by_itself_and_the_original_too() -> None:
    here = world(says("hi"), says("left"), says("right"))
    store = await talked(here)
    await fork(store, THREAD, 2, NEW, clock=here.clock)
    right = replace(here, thread_id=NEW)
    await here.run(user("to the left", "m2"))
    await right.run(message("user_message", "m2", thread_id=NEW, content="to the right"))
    left_request, right_request = here.model.requests[1:]
    assert left_request.messages[:2] == right_request.messages[:2]
    assert right_request.context.thread_stack == (NEW,)
    assert await right.lines() == ["User(to the right)", "Asst(right)"]
    assert [entry.seq for entry in await store.entries(THREAD)] == [1, 2, 3, 4]
    state = await right.state()
    assert state.credit == Limits().tokens - 15


async def test_results_for_the_original_mean_nothing_to_a_fork() -> None:
    here = world(calls(("fetch", {"url": "u"}), text="looking"), says("done"))
    await here.run(user("look"))
    store = here.store
    point = await fork(store, THREAD, 3, NEW, clock=here.clock)
    assert point.seq == 2
    (call_id,) = await here.live()
    right = replace(here, thread_id=NEW)
    await right.run(message("tool_result", "r1", thread_id=NEW, call_id=call_id, content="out"))
    assert await right.lines() == []
    manager = await right.manager()
    assert [m.role for m in render(manager.history)] == ["user", "assistant"]
