"""`torpor dlq list|show|redrive|drop`: what no thread could take, for people to read, send again, or throw away."""

import argparse
import sys
from collections.abc import AsyncIterator, Sequence

from core.clock import SYSTEM_CLOCK, Clock, iso
from core.errors import MisuseError, TorporError
from core.parsing import thread_of
from infra.cli_stack import DONE, FAILED, run, stack_of
from infra.operations import shown
from infra.operations.access import Access, access_to
from infra.operations.parked import KeptBody, all_parked, find_parked, parked_after, remove_parked
from infra.operations.redrive import redriven
from infra.operations.sending import queue_sender

NOTHING = "nothing is parked"


def dlq(options: argparse.Namespace, clock: Clock = SYSTEM_CLOCK) -> int:
    """Returns the exit code."""

    async def work() -> int:
        async with access_to(stack_of(options), clock) as access:
            match options.action:
                case "list":
                    return await _list(access, options.after, options.limit)
                case "show":
                    return _show(await find_parked(access, options.id))
                case "redrive":
                    return await _redrive(access, options.ids, options.all, options.vouch)
                case _:
                    return await _drop(access, options.ids, options.all)

    return run(work)


async def _list(access: Access, after: str | None, limit: int) -> int:
    page = await parked_after(access, after, limit)
    for kept in page:
        parked = kept.parked
        thread_id = thread_of(parked.body)[0]
        where = shown.safe(parked.source) + (f" → {thread_id}" if thread_id else "")
        print(f"{kept.id}  {shown.instant(parked.first_seen)}  {where}  {shown.line(parked.reason)}")
    if not page:
        print(NOTHING, file=sys.stderr)
    elif len(page) == limit:
        print(f"for more: --after '{page[-1].place}'", file=sys.stderr)
    return DONE


def _show(kept: KeptBody) -> int:
    parked = kept.parked
    print(f"id          {kept.id}")
    print(f"source      {shown.safe(parked.source)}")
    print(f"reason      {shown.safe(parked.reason)}")
    print(f"first seen  {iso(parked.first_seen)}")
    print(f"message id  {shown.safe(parked.message_id)}")
    print(f"sender      {shown.safe(parked.sender or 'not known')}")
    print()
    print(shown.block(parked.body))
    return DONE


async def _redrive(access: Access, ids: Sequence[str], everything: bool, vouched: bool) -> int:
    """Each is removed once its sending is confirmed; what cannot be sent stays, and the rest goes on."""
    sender, failed = queue_sender(access.stack, access.clock), 0
    async for kept in _chosen(access, ids, everything):
        try:
            again = redriven(kept, access.clock.now(), vouched=vouched)
            sender.send(again.message, again.attributes)
        except TorporError as error:
            failed += 1
            print(f"torpor: {shown.safe(str(error))}", file=sys.stderr)
            continue
        await remove_parked(access, kept)
        print(f"{kept.id}  sent to {again.message.queue}")
    return FAILED if failed else DONE


async def _drop(access: Access, ids: Sequence[str], everything: bool) -> int:
    async for kept in _chosen(access, ids, everything):
        await remove_parked(access, kept)
        print(f"{kept.id}  dropped")
    return DONE


async def _chosen(access: Access, ids: Sequence[str], everything: bool) -> AsyncIterator[KeptBody]:
    """Those named; or all that are there now, and not what is parked again meanwhile."""
    if bool(ids) == everything:
        raise MisuseError("name the bodies by their ids, or say --all")
    if everything:
        nothing = True
        async for kept in all_parked(access):
            nothing = False
            yield kept
        if nothing:
            print(NOTHING, file=sys.stderr)
        return
    for kept in [await find_parked(access, known_by) for known_by in ids]:
        yield kept
