"""`torpor check`: what is wrong with what is stored of a thread, and what to do about it."""

import argparse
import sys

from core.clock import SYSTEM_CLOCK, Clock
from infra.cli_stack import DONE, FAILED, run, stack_of
from infra.operations import shown
from infra.operations.access import access_to
from infra.operations.check import check
from infra.operations.findings import Finding

LONGEST = 400
"""Characters of what was found: it may hold what somebody wrote."""


def check_thread(options: argparse.Namespace, clock: Clock = SYSTEM_CLOCK) -> int:
    """Returns the exit code."""

    async def work() -> int:
        broken = notes = read = 0

        def progress(commits: int) -> None:
            nonlocal read
            read = commits
            if sys.stderr.isatty():
                print(f"\r{commits} commits read", end="", file=sys.stderr, flush=True)

        async with access_to(stack_of(options), clock) as access:
            async for finding in check(access, options.thread, progress):
                broken, notes = broken + (not finding.note), notes + finding.note
                _tell(finding, options.thread)
        told = f"{read} commits read; {broken} broken" + (f", {notes} to look at" if notes else "")
        print(("\r" if sys.stderr.isatty() else "") + told, file=sys.stderr)
        return FAILED if broken else DONE

    return run(work)


def _tell(finding: Finding, thread_id: str) -> None:
    kind = "look  " if finding.note else "BROKEN"
    print(f"{kind}  {finding.rule}  {shown.line(finding.where)}: {shown.line(finding.what, LONGEST)}")
    print(f"        → {shown.line(finding.do.replace('THREAD', thread_id), LONGEST)}")
