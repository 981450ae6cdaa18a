"""`torpor erase`: take a thread away, or a tree of them, and say what went and what keeps the rest."""

import argparse
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from core.clock import SYSTEM_CLOCK, Clock
from core.erasing import erase, erase_tree, sweep
from core.keeping import KeepingStore, Kept, Nothing, Outcome, Reason, Removed, children_of
from core.parsing import thread_of
from infra.cli_stack import DONE, FAILED, run, stack_of
from infra.dynamodb.parked import parked_id
from infra.keeping import DynamoKeeper
from infra.stack import Stack, storage_of

REASONS: Mapping[Reason, str] = {
    "lives": "has not expired",
    "parent": "its parent waits for it. Close it first (torpor close), and erase it when its parent has heard",
    "children": "children of it are open. Close it first (torpor close): that closes them too",
    "unsettled": "its last commit has messages to send. First: torpor settle",
    "readers": "others read its log: children and forks. Erase them first; of children --tree does",
    "busy": "somebody else committed first each time. Try again",
}
PARKED_LOOKED_AT = 1000
"""The oldest parked bodies, in which what was erased is looked for."""
RECORDS = "What workers keep of its calls expires by itself, within 60 days."


def erase_thread(options: argparse.Namespace) -> int:
    """Returns the exit code: 1 if anything stays that was to go."""

    async def work() -> int:
        stack = stack_of(options)
        async with keeper_of(stack) as store:
            outcomes = await _erased(store, options.thread, options.tree, SYSTEM_CLOCK)
            removed = [outcome for outcome in outcomes if isinstance(outcome, Removed)]
            gone = {outcome.thread_id for outcome in removed}
            for freed in [log for outcome in removed for log in outcome.freed if log not in gone]:
                await _sweep(store, freed, timedelta(days=stack.retention_days))
        return FAILED if any(isinstance(outcome, Kept) for outcome in outcomes) else DONE

    return run(work)


@asynccontextmanager
async def keeper_of(stack: Stack, clock: Clock = SYSTEM_CLOCK) -> AsyncIterator[DynamoKeeper]:
    """The stack's threads, to take some away. Raises SettingsError."""
    async with storage_of(stack, clock) as storage:
        yield storage.opened_by(DynamoKeeper)


async def _erased(store: DynamoKeeper, thread_id: str, tree: bool, clock: Clock) -> Sequence[Outcome]:
    if tree:
        outcomes = await erase_tree(store, thread_id, clock)
        left: tuple[str, ...] = ()
    else:
        left = await children_of(store, thread_id)
        outcomes = (await erase(store, thread_id, clock),)
    for outcome in outcomes:
        _tell(outcome)
    if removed := {outcome.thread_id for outcome in outcomes if isinstance(outcome, Removed)}:
        print(RECORDS)
        await _tell_parked(store, removed)
    if left and not isinstance(outcomes[-1], Kept):
        print(f"its children stay: {', '.join(left)}")
    return outcomes


async def _tell_parked(store: DynamoKeeper, thread_ids: set[str]) -> None:
    """What was refused, or given up, is in no thread: a person decides on each."""
    bodies = await store.parked(PARKED_LOOKED_AT)
    for parked in bodies:
        thread_id, _ = thread_of(parked.body)
        if thread_id in thread_ids:
            print(
                f"{thread_id}: a parked body for it stays. Look, and drop it: torpor dlq drop {parked_id(parked)}"
            )
    if len(bodies) == PARKED_LOOKED_AT:
        print(f"more than {PARKED_LOOKED_AT} bodies are parked: others may be for it (torpor dlq list)")


async def _sweep(store: KeepingStore, thread_id: str, retention: timedelta) -> None:
    """A log that only what was erased still kept goes too, if it has expired."""
    for outcome in await sweep(store, thread_id, SYSTEM_CLOCK, retention):
        if isinstance(outcome, Removed):
            _tell(outcome)


def _tell(outcome: Outcome) -> None:
    match outcome:
        case Removed(thread_id=thread_id, cleared=cleared):
            print(f"{thread_id}: erased, {cleared.commits} commits and {cleared.payloads} payloads")
        case Kept(thread_id=thread_id, reason=reason, by=by):
            who = f" ({', '.join(by)})" if by else ""
            print(f"{thread_id}: stays, {REASONS[reason]}{who}", file=sys.stderr)
        case Nothing(thread_id=thread_id):
            print(f"{thread_id}: there is no such thread")
