"""`torpor settle`: what a thread's last commit promised is sent, and its markers written, by hand."""

import argparse
import sys

from core.clock import SYSTEM_CLOCK, Clock
from infra.cli_stack import DONE, FAILED, run, stack_of
from infra.operations import shown
from infra.operations.access import access_to
from infra.operations.dispatching import dispatcher_of
from infra.operations.settling import ByHand, promised, settle_by_hand


def settle_thread(options: argparse.Namespace, clock: Clock = SYSTEM_CLOCK) -> int:
    """Returns the exit code."""

    async def work() -> int:
        async with access_to(stack_of(options), clock) as access:
            if options.dry_run:
                messages = await promised(access.store, clock, options.thread)
                for message in messages:
                    print(f"would send {message.id} to {message.queue}")
                if not messages:
                    print("nothing is left to send", file=sys.stderr)
                return DONE
            async with dispatcher_of(access) as dispatcher:
                return _tell(await settle_by_hand(access.store, dispatcher, clock, options.thread))

    return run(work)


def _tell(done: ByHand) -> int:
    for message in done.sent:
        print(f"sent {message.id} to {message.queue}")
    for one in done.unsent:
        why = "never can be" if one.permanent else "not for now"
        print(f"not sent {one.message.id} to {one.message.queue}, {why}: {shown.line(one.reason)}")
    if done.settled:
        print(f"commit {done.number} is settled")
        return DONE
    print(
        f"commit {done.number} is not settled: mend its queues and try again. Else the thread's next commit carries on"
        " what was not sent, or answers its call"
    )
    return FAILED
