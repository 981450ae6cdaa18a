"""For any tree of threads: what each inherits, and where it can be cut, is what a plain list of everything says."""

from hypothesis import given, settings

from core.history import HistoryManager
from core.ids import root_of
from infra.memory import MemoryStore
from tests.support.forest import DEEPEST, Forest, Step, steps
from tests.support.forest_checks import check_thread

bounded, few = settings(max_examples=100), settings(max_examples=30)


@bounded
@given(steps)
async def test_every_thread_sees_what_the_plain_model_sees(script: list[Step]) -> None:
    forest = Forest(store := MemoryStore())
    await forest.live(script)
    for thread_id in forest.views:
        manager = await HistoryManager.new_with_history(store, thread_id)
        check_thread(forest, thread_id, manager)
        assert len(manager.thread_stack) <= DEEPEST
        assert manager.thread_stack[0] == root_of(thread_id)


@few
@given(steps)
async def test_readers_are_those_that_inherit(script: list[Step]) -> None:
    forest = Forest(store := MemoryStore())
    await forest.live(script)
    known = {(log, reader) for log in forest.views for reader in await store.readers(log)}
    assert known == forest.readers
