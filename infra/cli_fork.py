"""`torpor fork`: a new thread that shares another one's history, on a deployed stack."""

import asyncio
import sys

from core.errors import MisuseError, TorporError
from core.fork import fork
from core.thread import ForkPoint
from infra.stack import Stack, find_stack, store_of

DONE, FAILED, MISUSED = 0, 1, 2


def fork_thread(stack: str, region: str | None, thread_id: str, at_seq: int, new_thread_id: str) -> int:
    """Returns the exit code."""
    try:
        point = asyncio.run(_forked(find_stack(stack, region), thread_id, at_seq, new_thread_id))
    except TorporError as error:
        print(f"torpor: {error}", file=sys.stderr)
        return MISUSED if isinstance(error, MisuseError) else FAILED
    print(f"{new_thread_id} shares {thread_id} up to entry {point.seq}")
    return DONE


async def _forked(stack: Stack, thread_id: str, at_seq: int, new_thread_id: str) -> ForkPoint:
    async with store_of(stack) as store:
        return await fork(store, thread_id, at_seq, new_thread_id)
