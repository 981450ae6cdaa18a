"""Behaviours of HistoryManager that take in user text and results, over both stores."""

from core.chunks import CallChunk
from core.entries import ToolResult, User
from core.messages import InputKey
from core.render import render
from core.request import ResultPart
from core.thread import Summary
from infra.memory import MemoryClock
from tests.contract.stores import START, Stores
from tests.support.inputs import THREAD
from tests.support.lines import lines
from tests.support.played import signed
from tests.support.threads import answer, calling, empty, reload, take_turn, text

CLOCK = MemoryClock(START)


async def test_user_text_into_empty(stores: Stores) -> None:
    async with stores.open() as opened:
        manager = await empty(opened.store, CLOCK)
        assert manager.handle_content(text("hello"), "m1") is True
        assert lines(manager.history) == ["User(hello)"]
        assert [(entry.kind, entry.message_id) for entry in manager.pending_items] == [("user", "m1")]
        assert await opened.another().entries(THREAD) == ()
        await manager.sync()
        assert lines(await opened.another().entries(THREAD)) == ["User(hello)"]


async def test_same_message_id_twice(stores: Stores) -> None:
    async with stores.open() as opened:
        manager = await empty(opened.store, CLOCK)
        assert manager.handle_content(text("hello"), "m1") is True
        (call_id,) = take_turn(manager, CallChunk("look", {}))
        assert manager.handle_content(text("hello"), "m1") is False
        assert manager.live_calls == (call_id,)
        assert manager.take_interrupted_tool_calls() == []
        assert manager.active_subscriptions == ()
        await manager.sync()
        again = await reload(manager, opened.store, CLOCK, "m1")
        assert again.handle_content(text("hello"), "m1") is False
        assert again.live_calls == (call_id,)
        assert again.handle_content(text("hello"), "m2") is True
        users = [entry for entry in again.history if isinstance(entry, User)]
        assert [entry.message_id for entry in users] == ["m1", "m2"]


async def test_result_for_live_call(stores: Stores) -> None:
    async with stores.open() as opened:
        manager = await calling(opened.store, CLOCK, "look")
        (call_id,) = manager.live_calls
        assert manager.handle_content(answer(call_id), "r1") is True
        assert lines(manager.history) == ["User(go)", "Call(look, {})", "Result(look, out)"]
        assert manager.take_interrupted_tool_calls() == []
        await manager.sync()
        later = InputKey("tool_result", "r1")
        assert dict((await opened.another().load(THREAD, [later])).markers) == {}
        again = await reload(manager, opened.another(), CLOCK)
        assert again.handle_content(answer(call_id), "r1") is False


async def test_results_of_parallel_calls_any_order(stores: Stores) -> None:
    async with stores.open() as opened:
        manager = await calling(opened.store, CLOCK, "a", "b", "c")
        c1, c2, c3 = manager.live_calls
        taken, live = [], []
        for number, call_id in enumerate((c3, c1, c1, "c9", c2)):
            taken.append(manager.handle_content(answer(call_id, call_id), f"r{number}"))
            live.append(manager.live_calls)
        assert taken == [True, True, False, False, True]
        assert live == [(c1, c2), (c2,), (c2,), (c2,), ()]
        await manager.sync()
        again = await reload(manager, opened.another(), CLOCK)
        *_, last = render(again.history)
        assert last.role == "user"
        assert [part.call_id for part in last.parts if isinstance(part, ResultPart)] == [c1, c2, c3]


async def test_text_interrupts_live_calls(stores: Stores) -> None:
    async with stores.open() as opened:
        manager = await calling(opened.store, CLOCK, "a", "b")
        c1, c2 = manager.live_calls
        manager.handle_content(answer(c2, "b is here"), "r2")
        await manager.sync()
        manager = await reload(manager, opened.another(), CLOCK)
        assert manager.handle_content(text("never mind"), "m2") is True
        assert lines(manager.history)[3:] == [
            "Result(b, b is here)",
            "Result(a, interrupted)",
            "User(never mind)",
        ]
        assert manager.take_interrupted_tool_calls() == [c1]
        assert manager.take_interrupted_tool_calls() == []
        before = manager.history
        assert manager.handle_content(answer(c1, "late"), "r1") is False
        assert manager.history == before


async def test_cutoff_inside_a_commit(stores: Stores) -> None:
    async with stores.open() as opened:
        manager = await empty(opened.store, CLOCK)
        manager.handle_content(text("hi"), "m1")
        (call_id,) = take_turn(manager, signed("hm"), "let me see", CallChunk("look", {}))
        await manager.sync()
        manager.apply_compaction(Summary(text="greeted", up_to_seq=1))
        await manager.sync()
        again = await reload(manager, opened.another(), CLOCK)
        assert [entry.seq for entry in again.history] == [2, 3, 4]
        assert lines(again.history) == ["Reason(hm, sig)", "Asst(let me see)", "Call(look, {})"]
        assert again.handle_content(answer(call_id), "r1") is True
        assert isinstance(again.history[-1], ToolResult)
        assert again.live_calls == ()
