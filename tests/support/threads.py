"""Histories to begin with, made by a manager alone: threads in a given state, without a slice or a model."""

from core.blocks import text_content
from core.chunks import CallChunk, Chunk, Completed, TextChunk
from core.clock import Clock
from core.entries import ToolResult, User
from core.history import HistoryManager
from core.ports import ThreadStore
from tests.support.inputs import THREAD


def text(words: str) -> User:
    """User text that no message has brought yet."""
    return User(content=text_content(words))


def answer(call_id: str, words: str = "out") -> ToolResult:
    """A result that no message has brought yet."""
    return ToolResult(call_id=call_id, content=text_content(words))


def take_turn(manager: HistoryManager, *chunks: Chunk | str) -> tuple[str, ...]:
    """Stream a turn (strings are text) and flush it; returns the ids of the live calls."""
    for chunk in chunks:
        manager.handle_completion(TextChunk(chunk) if isinstance(chunk, str) else chunk)
    manager.handle_completion(Completed())
    manager.flush_turn()
    return manager.live_calls


async def empty(store: ThreadStore, clock: Clock) -> HistoryManager:
    """A thread that does not exist yet."""
    return await HistoryManager.new_with_history(store, THREAD, clock=clock)


async def reload(manager: HistoryManager, store: ThreadStore, clock: Clock, *ids: str) -> HistoryManager:
    """The same thread as the next slice finds it."""
    return await HistoryManager.new_with_history(store, manager.thread_id, ids, clock=clock)


async def calling(store: ThreadStore, clock: Clock, *tools: str) -> HistoryManager:
    """[User(go), Call …] committed, the calls live and known to no worker."""
    manager = await empty(store, clock)
    manager.handle_content(text("go"), "m0")
    take_turn(manager, *(CallChunk(tool, {}) for tool in tools))
    await manager.sync()
    return await reload(manager, store, clock)
