"""Running one tool once, inline or in a worker: the same rules for arguments, time, errors and results."""

import asyncio
import functools
import inspect
from dataclasses import dataclass, replace
from typing import Any, Literal

from core.tools.arguments import BadArguments, validate_arguments
from core.tools.asking import Ask
from core.tools.boundary import ToolFailed, tool_boundary
from core.tools.context import ToolContext, merge_patches
from core.tools.definition import Tool
from core.tools.result import ToolResult, error_result, to_result
from core.tools.threads import run_in_own_thread

CLEANUP_SECONDS = 1.0
"""What an async tool gets to clean up in after its timeout. One that ignores being cancelled is left behind."""


@dataclass(frozen=True)
class ToolRun:
    """How a run ended. `result` is complete: what the tool left in its context is part of it."""

    result: ToolResult
    outcome: Literal["ok", "error", "timed_out"]


async def run_tool(tool: Tool, arguments: object, ctx: ToolContext) -> ToolRun:
    """`run_or_ask` where nobody can be asked: inside a slice."""
    run = await run_or_ask(tool, arguments, ctx)
    if isinstance(run, ToolRun):
        return run
    return ToolRun(error_result(f"{tool.name}: only a tool with worker=… can ask a person"), "error")


async def run_or_ask(tool: Tool, arguments: object, ctx: ToolContext) -> ToolRun | Ask:
    """Run `tool` once; whatever it does, it ends, at the latest `timeout_seconds` + CLEANUP_SECONDS later.

    Raises only what is not the tool's: CancelledError if this task is cancelled, KeyboardInterrupt. Code that blocks
    cannot be stopped: in a sync tool it runs on in its thread after the call was answered, in an `async def` it holds
    up the event loop, timeouts included. After a failure or timeout, sources and state patches are dropped.
    """
    try:
        keywords = validate_arguments(tool, arguments)
    except BadArguments as exc:
        return ToolRun(error_result(str(exc)), "error")
    if tool.signature.context_parameter is not None:
        keywords[tool.signature.context_parameter] = ctx
    task = asyncio.create_task(_attempt(tool, keywords, ctx))
    task.add_done_callback(_retrieve)
    try:
        await asyncio.wait({task}, timeout=tool.timeout_seconds)
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=CLEANUP_SECONDS)
            return ToolRun(error_result(f"no result within {tool.timeout_seconds:g} s"), "timed_out")
    finally:
        task.cancel()
    return _ended(task)


async def _attempt(tool: Tool, keywords: dict[str, Any], ctx: ToolContext) -> ToolResult | Ask:
    with tool_boundary():
        call = functools.partial(tool.function, **keywords)
        value = call() if tool.is_async else await run_in_own_thread(call)
        if inspect.isawaitable(value):
            value = await value
        return value if isinstance(value, Ask) else _with_collected(to_result(value), ctx)


def _with_collected(result: ToolResult, ctx: ToolContext) -> ToolResult:
    """The result with what the context collected before it."""
    patch = merge_patches(ctx.state_patch or {}, result.state_patch or {}) or None
    return replace(result, sources=(*ctx.sources, *result.sources), state_patch=patch)


def _ended(task: asyncio.Task[ToolResult | Ask]) -> ToolRun | Ask:
    if task.cancelled():
        return ToolRun(error_result("CancelledError: the tool was cancelled from inside"), "error")
    try:
        result = task.result()
    except (ToolFailed, GeneratorExit) as exc:
        return ToolRun(error_result(str(exc) or type(exc).__name__), "error")
    if isinstance(result, Ask):
        return result
    return ToolRun(result, "error" if result.is_error else "ok")


def _retrieve(task: asyncio.Task[ToolResult | Ask]) -> None:
    """Mark the exception of an abandoned run as seen: asyncio complains about it otherwise."""
    if not task.cancelled():
        task.exception()
