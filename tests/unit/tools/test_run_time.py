"""Runs that end before their tool does: timeouts, cancellation, interrupts. Apart from other runs for its real waits.

Every timeout here is 10 ms, and every tool that outlasts it waits for an event, so that nothing depends on speed.
"""

import asyncio
import gc
import sys
import threading
from typing import Any

import pytest

from core import ToolContext, tool
from core.tools import ToolRun, run_tool
from core.tools import run as run_module


async def ran(function: Any, **arguments: Any) -> ToolRun:
    return await run_tool(function.tool, arguments, ToolContext.for_test())


async def test_an_async_tool_that_hangs_is_cancelled_and_times_out() -> None:
    cleaned: list[str] = []

    @tool(timeout_seconds=0.01)
    async def hang(ctx: ToolContext) -> str:
        """Wait for ever."""
        ctx.add_source("https://a", "A")
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("up")
        return "never"

    run = await ran(hang)
    assert (run.outcome, run.result.is_error, run.result.sources) == ("timed_out", True, ())
    assert cleaned == ["up"]


async def test_a_tool_that_will_not_be_cancelled_times_out_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_module, "CLEANUP_SECONDS", 0.01)

    @tool(timeout_seconds=0.01)
    async def stubborn() -> str:
        """Survive one cancellation."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.Event().wait()
        return "never"

    assert (await ran(stubborn)).outcome == "timed_out"


async def test_a_tool_that_returns_after_its_timeout_has_timed_out() -> None:
    @tool(timeout_seconds=0.01)
    async def late() -> str:
        """Answer when told to stop."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "late"
        return "never"

    assert (await ran(late)).outcome == "timed_out"


def test_a_sync_tool_that_hangs_times_out_and_does_not_keep_the_loop_from_ending() -> None:
    leave = threading.Event()

    @tool(timeout_seconds=0.01)
    def stuck() -> str:
        """Block for ever."""
        leave.wait()
        return "late"

    runs = asyncio.run(_many(stuck, 100))
    assert {run.outcome for run in runs} == {"timed_out"}
    stragglers = [thread for thread in threading.enumerate() if thread.name == "tool"]
    assert all(thread.daemon for thread in stragglers)
    leave.set()
    for thread in stragglers:
        thread.join()


async def _many(function: Any, count: int) -> list[ToolRun]:
    return await asyncio.gather(*(ran(function) for _ in range(count)))


async def test_a_sync_tool_that_returns_after_its_timeout_disturbs_nobody() -> None:
    complaints: list[Any] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, complaint: complaints.append(complaint))
    leave, thread = threading.Event(), list[threading.Thread]()

    @tool(timeout_seconds=0.01)
    def late() -> str:
        """Block until it is too late."""
        thread.append(threading.current_thread())
        leave.wait()
        return "late"

    assert (await ran(late)).outcome == "timed_out"
    leave.set()
    await asyncio.to_thread(thread[0].join)
    assert complaints == []


async def test_cancelling_the_run_cancels_the_tool_and_passes() -> None:
    entered, cancelled = asyncio.Event(), asyncio.Event()

    @tool
    async def waits() -> str:
        """Wait for ever."""
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return "never"

    running = asyncio.create_task(ran(waits))
    await entered.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.wait_for(cancelled.wait(), timeout=5)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_keyboard_interrupt_passes(is_async: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)

    @tool(name="sync")
    def interrupts() -> str:
        """Stop everything."""
        raise KeyboardInterrupt

    @tool(name="async")
    async def ainterrupts() -> str:
        """Stop everything."""
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(ran(ainterrupts if is_async else interrupts))
    gc.collect()
