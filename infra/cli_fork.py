"""`torpor fork`: a new thread that shares another one's history."""

import argparse

from core.fork import fork
from infra.cli_stack import DONE, run, stack_of
from infra.stack import store_of


def fork_thread(options: argparse.Namespace, thread_id: str, at_seq: int, new_thread_id: str) -> int:
    """Returns the exit code."""

    async def work() -> int:
        async with store_of(stack_of(options)) as store:
            point = await fork(store, thread_id, at_seq, new_thread_id)
        print(f"{new_thread_id} shares {thread_id} up to entry {point.seq}")
        return DONE

    return run(work)
