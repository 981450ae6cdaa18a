"""One thread for one run of a sync tool.

Not `asyncio.to_thread`: its pool has a handful of threads, which hanging tools would use up for good, and
`asyncio.run` and the interpreter wait for them at the end. A daemon thread that hangs costs its own stack only.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from core.tools.boundary import PASSES, tool_boundary

T = TypeVar("T")


async def run_in_own_thread(function: Callable[[], T]) -> T:
    """The function's value, run in this task's context variables. Raises ToolFailed.

    Being cancelled ends the waiting, not the function, which nothing in Python can stop.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def settle(setter: Callable[[Any], None], value: Any) -> None:
        if not answer.done():
            setter(value)

    def run() -> None:
        try:
            with tool_boundary():
                outcome: tuple[Callable[[Any], None], Any] = (answer.set_result, function())
        except PASSES as exc:  # raised again where the answer is awaited
            outcome = (answer.set_exception, exc)
        with suppress(RuntimeError):  # the loop is closed: nobody is waiting any more
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=contextvars.copy_context().run, args=(run,), name="tool", daemon=True).start()
    return await answer
