"""One run of one tool: whatever the tool does, there is a result, and it says what happened."""

import asyncio
import contextvars
import threading
from typing import Any

import pytest
from pydantic import BaseModel

from core import Source, TextBlock, ToolContext, ToolResult, tool
from core.tools import ToolFunction, ToolRun, run_tool

WHO = contextvars.ContextVar("WHO", default="nobody")


async def ran(function: ToolFunction[..., Any], ctx: ToolContext | None = None, **arguments: Any) -> ToolRun:
    return await run_tool(function.tool, arguments, ctx or ToolContext.for_test())


def text_of(run: ToolRun) -> str:
    (block,) = run.result.content
    assert isinstance(block, TextBlock)
    return block.text


@tool
def note(word: str, ctx: ToolContext) -> ToolResult:
    """Leave something of every kind."""
    ctx.add_source("https://a", "A")
    ctx.patch_state({"word": word, "seen": {"a": 1}})
    more = [Source(url="https://b", title="B")]
    return ToolResult(f"{word} in {ctx.thread_id}", sources=more, state_patch={"seen": {"b": 2}})


@tool
async def anote(word: str, ctx: ToolContext) -> ToolResult:
    """Leave something of every kind."""
    return note(word, ctx)


@pytest.mark.parametrize("function", [note, anote])
async def test_sync_and_async_tools_give_the_same_complete_result(function: Any) -> None:
    run = await ran(function, ToolContext.for_test(thread_id="t1"), word="hi")
    assert run.outcome == "ok"
    assert text_of(run) == "hi in t1"
    assert [source.url for source in run.result.sources] == ["https://a", "https://b"]
    assert run.result.state_patch == {"word": "hi", "seen": {"a": 1, "b": 2}}


async def test_a_sync_tool_does_not_hold_up_the_loop_and_sees_its_context() -> None:
    entered, leave = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    @tool
    def slow() -> str:
        """Wait until it is let go."""
        loop.call_soon_threadsafe(entered.set)
        leave.wait()
        return WHO.get()

    WHO.set("caller")
    running = asyncio.create_task(ran(slow))
    await entered.wait()
    leave.set()
    assert text_of(await running) == "caller"


async def test_a_sync_function_that_returns_a_coroutine_is_awaited() -> None:
    async def later(word: str) -> str:
        return word

    @tool
    def indirect(word: str) -> Any:
        """Hand over."""
        return later(word)

    assert text_of(await ran(indirect, word="done")) == "done"


async def test_bad_arguments_are_an_error_and_the_tool_is_not_run() -> None:
    calls: list[int] = []

    @tool
    def count(number: int) -> str:
        """Count."""
        calls.append(number)
        return "counted"

    run = await ran(count, number="many")
    assert (run.outcome, run.result.is_error, calls) == ("error", True, [])
    assert "number" in text_of(run)


class Parsed(BaseModel):
    size: int


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def _raise(what: str) -> str:
    errors: dict[str, BaseException] = {
        "value": ValueError("no such file"),
        "bare": KeyError(),
        "stop": StopIteration("over"),
        "exit": SystemExit(3),
        "generator": GeneratorExit(),
        "timeout": TimeoutError("the site is slow"),
        "cancelled": asyncio.CancelledError(),
        "unprintable": Unprintable(),
        "huge": ValueError("\x00" + "x" * 1_000_000),
    }
    if what == "parse":
        Parsed.model_validate({"size": "secret input"})
    raise errors[what]


@tool(name="sync")
def raising(what: str) -> str:
    """Raise."""
    return _raise(what)


@tool(name="async")
async def araising(what: str) -> str:
    """Raise."""
    return _raise(what)


@pytest.mark.parametrize("function", [raising, araising], ids=["sync", "async"])
@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("value", "ValueError: no such file"),
        ("bare", "KeyError"),
        ("exit", "SystemExit: 3"),
        ("generator", "GeneratorExit"),
        ("timeout", "TimeoutError: the site is slow"),
        ("cancelled", "CancelledError"),
        ("unprintable", "Unprintable"),
        ("parse", "Parsed: size:"),
        ("stop", "StopIteration"),
    ],
)
async def test_a_tool_that_raises_gives_an_error_with_a_short_text(
    function: Any, what: str, told: str
) -> None:
    run = await ran(function, what=what)
    assert (run.outcome, run.result.is_error) == ("error", True)
    assert told in text_of(run)
    assert not [word for word in ("Traceback", "pydantic", "secret") if word in text_of(run)]


async def test_the_error_text_is_bounded_and_clean() -> None:
    text = text_of(await ran(raising, what="huge"))
    assert len(text) <= 1_000
    assert "\x00" not in text


async def test_a_failed_run_leaves_no_sources_and_no_state() -> None:
    @tool
    def half(ctx: ToolContext) -> str:
        """Start and fail."""
        ctx.add_source("https://a", "A")
        ctx.patch_state({"half": True})
        raise ValueError("broke")

    run = await ran(half)
    assert (run.result.sources, run.result.state_patch) == ((), None)


async def test_a_tool_that_returns_what_cannot_be_serialised_gives_an_error() -> None:
    @tool
    def opaque() -> object:
        """Return an object."""
        return {"x": object()}

    run = await ran(opaque)
    assert run.outcome == "error"
    assert "object at x" in text_of(run)


async def test_an_error_result_of_the_tools_own_is_an_error() -> None:
    @tool
    def honest() -> ToolResult:
        """Say so."""
        return ToolResult("not found", is_error=True, state_patch={"tries": 1})

    run = await ran(honest)
    assert (run.outcome, text_of(run), run.result.state_patch) == ("error", "not found", {"tries": 1})


async def test_siblings_keep_their_results() -> None:
    runs = await asyncio.gather(ran(note, word="a"), ran(raising, what="exit"), ran(anote, word="b"))
    assert [run.outcome for run in runs] == ["ok", "error", "ok"]
