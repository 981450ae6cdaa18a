"""Behaviours of HistoryManager's turn buffer: what streams in, what is kept of it, what is not."""

import pytest

from core.chunks import ArgumentsDelta, CallChunk, Chunk, Completed, ReasoningBlock, ReasoningDelta, TextChunk
from core.errors import MisuseError
from core.history import HistoryManager
from infra.memory import MemoryClock, MemoryStore
from tests.contract.stores import START
from tests.support.inputs import THREAD
from tests.support.lines import lines
from tests.support.played import signed
from tests.support.threads import empty, text

CLOCK = MemoryClock(START)


async def _fresh(words: str = "") -> HistoryManager:
    """A manager of its own store, the text already taken in."""
    manager = await empty(MemoryStore(CLOCK), CLOCK)
    if words:
        manager.handle_content(text(words), "m1")
    return manager


def _stream(manager: HistoryManager, *chunks: Chunk | str) -> None:
    for chunk in chunks:
        manager.handle_completion(TextChunk(chunk) if isinstance(chunk, str) else chunk)


async def test_chunks_coalesce() -> None:
    manager = await _fresh()
    _stream(manager, "Hello", ", ", "world")
    assert list(manager.turn_buffer) == [TextChunk("Hello, world")]
    assert (manager.history, manager.pending_items) == ((), ())
    manager.flush_turn()
    assert lines(manager.history) == lines(manager.pending_items) == ["Asst(Hello, world)"]
    assert manager.turn_buffer == ()


async def test_chunks_do_not_coalesce_across_others() -> None:
    manager = await _fresh()
    _stream(manager, "a", signed("hm"), "b", CallChunk("look", {"x": 1}), "c")
    manager.flush_turn()
    expected = ["Asst(a)", "Reason(hm, sig)", "Asst(b)", 'Call(look, {"x": 1})', "Asst(c)"]
    assert lines(manager.history) == expected
    assert [entry.seq for entry in manager.history] == [1, 2, 3, 4, 5]


async def test_discard_forgets() -> None:
    manager = await _fresh("go")
    await manager.sync()
    _stream(manager, "half an ans")
    manager.discard_turn()
    manager.flush_turn()
    assert lines(manager.history) == ["User(go)"]
    assert (manager.pending_items, manager.turn_buffer) == ((), ())


REASON, CALL = signed("hm"), CallChunk("look", {})
TURNS: list[tuple[list[Chunk | str], list[str]]] = [
    (["answer", REASON], ["Asst(answer)"]),
    (["answer", REASON, REASON, " \n"], ["Asst(answer)"]),
    ([REASON, "answer"], ["Reason(hm, sig)", "Asst(answer)"]),
    ([REASON, CALL], ["Reason(hm, sig)", "Call(look, {})"]),
    (["a", REASON, "b", REASON], ["Asst(a)", "Reason(hm, sig)", "Asst(b)"]),
    ([REASON, CALL, REASON], ["Reason(hm, sig)", "Call(look, {})"]),
    ([REASON, " "], []),
]


@pytest.mark.parametrize(("chunks", "kept"), TURNS)
async def test_trim_trailing_reasoning(chunks: list[Chunk | str], kept: list[str]) -> None:
    manager = await _fresh("go")
    _stream(manager, *chunks)
    manager.flush_turn_trimming_reasoning()
    assert lines(manager.history) == ["User(go)", *kept]
    assert manager.turn_buffer == ()


async def test_view_for_late_joiners() -> None:
    manager = await _fresh("hi")
    _stream(manager, "str", "eam")
    views = [manager.current_turn_view(), manager.current_turn_view()]
    assert [lines(view) for view in views] == [["User(hi)", "Asst(stream)"]] * 2
    assert lines(manager.history) == ["User(hi)"]
    assert manager.turn_buffer == (TextChunk("stream"),)
    _stream(manager, "ing")
    assert lines(views[0]) == ["User(hi)", "Asst(stream)"]


async def test_unflushed_buffer_is_a_bug() -> None:
    store = MemoryStore(CLOCK)
    manager = await empty(store, CLOCK)
    manager.handle_content(text("hi"), "m1")
    _stream(manager, "stream", Completed())
    before = (manager.history, manager.pending_items, manager.turn_buffer, manager.state)
    with pytest.raises(MisuseError):
        await manager.sync()
    with pytest.raises(MisuseError):
        manager.handle_content(text("more"), "m2")
    with pytest.raises(MisuseError):
        _stream(manager, "the next completion")
    assert (manager.history, manager.pending_items, manager.turn_buffer, manager.state) == before
    assert await store.entries(THREAD) == ()


async def test_deltas_never_enter_the_buffer() -> None:
    manager = await _fresh()
    _stream(manager, ReasoningDelta("hm"), ArgumentsDelta("look", '{"x"'), Completed())
    assert list(manager.turn_buffer) == []
    _stream(manager, ReasoningBlock("hm", "sig"))
    assert list(manager.turn_buffer) == [ReasoningBlock("hm", "sig")]
