"""`torpor threads`: which threads there are, by pages, and what looking has cost."""

import argparse
import sys

from core.clock import SYSTEM_CLOCK, Clock
from core.errors import MisuseError
from core.ids import is_thread_id
from infra.cli_stack import DONE, run, stack_of
from infra.operations import shown
from infra.operations.access import access_to
from infra.operations.listing import ThreadPage, threads_after


def list_threads(options: argparse.Namespace, clock: Clock = SYSTEM_CLOCK) -> int:
    """Returns the exit code."""

    async def work() -> int:
        after = options.after
        if after is not None and not is_thread_id(after):
            raise MisuseError(f"--after {after!r}: the id of a thread, the last one of the list before")
        async with access_to(stack_of(options), clock) as access:
            days = access.stack.retention_days
            _tell(await threads_after(access.table, after, options.limit, days, roots=options.roots))
        return DONE

    return run(work)


def _tell(page: ThreadPage) -> None:
    for thread in page.threads:
        state = "waits" if thread.last_at is None else f"rests since {shown.instant(thread.last_at)}"
        print(f"{thread.thread_id}  {shown.counted(thread.commits, 'commit')}  {state}")
    print(
        f"{shown.counted(len(page.threads), 'thread')}; reading took {page.read_units:g} read units"
        " (a scan reads the table from where it begins, whatever it finds)",
        file=sys.stderr,
    )
    if page.more and page.threads:
        print(f"for more: --after {page.threads[-1].thread_id}", file=sys.stderr)
