"""What looking costs: a thread of ten thousand entries is never read whole, a thousand threads are listed by pages."""

import math
from argparse import Namespace

import pytest

from core.blocks import text_content
from core.commit import Commit
from core.entries import Assistant, Entry, User
from core.messages import InputKey
from infra.cli_show import Showing
from infra.dynamodb.keys import NUMBER, TIP, item_key, partition
from infra.dynamodb.requests import Patience
from infra.dynamodb.table import Table
from infra.operations.listing import Listed, threads_after
from infra.operations.table import OperatorTable
from tests.contract.commits import THREAD, made, with_base
from tests.contract.stores import DynamoStores, OpenedDynamo

ENTRIES, PER_COMMIT = 10_000, 40
COMMITS = ENTRIES // PER_COMMIT
THREADS = 1_000


def turn(number: int) -> Commit:
    entries: list[Entry] = [User(content=text_content("hi")), *[Assistant(text="word")] * (PER_COMMIT - 1)]
    consumed = [InputKey("user_message", f"m{number}")]
    return made(number, entries, first_seq=(number - 1) * PER_COMMIT + 1, consumed=consumed)


def showing(opened: OpenedDynamo, **options: object) -> Showing:
    chosen = {"thread": THREAD, "tree": False, "follow": False, "after": None, "limit": 5, "full": False}
    return Showing(opened.another(), opened.clock, Namespace(**{**chosen, **options}))


def rows_read(opened: OpenedDynamo) -> int:
    found = sum(len(call.response["Items"]) for call in opened.dynamodb.calls if call.operation == "query")
    return found


async def test_a_thread_of_ten_thousand_entries_is_not_read_whole(
    dynamo: DynamoStores, capsys: pytest.CaptureFixture[str]
) -> None:
    async with dynamo.open() as opened:
        await opened.seed([turn(number) for number in range(1, COMMITS + 1)])
        for options in ({}, {"after": ENTRIES // 2}, {"tree": True}):
            opened.dynamodb.calls.clear()
            await showing(opened, **options).show()
            assert rows_read(opened) <= 40
            assert len(opened.dynamodb.calls) <= 16
            said = capsys.readouterr().out
            assert f"{ENTRIES} entries in {COMMITS} commits" in said
            assert "--full" in said
            assert said.count(" user ") == 5


async def test_what_a_summary_covers_is_not_read_to_tell_what_a_thread_waits_for(
    dynamo: DynamoStores, capsys: pytest.CaptureFixture[str]
) -> None:
    async with dynamo.open() as opened:
        log = [turn(number) for number in range(1, COMMITS)]
        await opened.seed(
            [*log, with_base(COMMITS, log, up_to_seq=PER_COMMIT * (COMMITS - 3), from_number=COMMITS - 2)]
        )
        opened.dynamodb.calls.clear()
        await showing(opened).show()
        assert rows_read(opened) <= 60
        assert "summed up to entry" in capsys.readouterr().out


async def test_a_thousand_threads_are_listed_by_pages_each_once(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        reached = (opened.dynamodb, opened.table, Patience(opened.clock, lambda: math.inf))
        table, seeding = OperatorTable(*reached), Table(*reached)
        names = {f"t{number}" for number in range(THREADS)} | {"t1~child"}
        await seeding.batch_put(
            [item_key(partition(name), TIP) | {NUMBER: {"N": "3"}} for name in sorted(names)]
        )
        await seeding.batch_put([item_key(partition("t1"), f"C#{number:012d}") for number in range(5)])
        found: list[Listed] = []
        after: str | None = None
        while True:
            page = await threads_after(table, after, 400, 90, roots=False)
            found += page.threads
            assert len(page.threads) <= 400
            if not page.more:
                break
            after = found[-1].thread_id
        assert len(found) == len(names)
        assert {one.thread_id for one in found} == names
        assert {one.commits for one in found} == {3}
        roots = await threads_after(table, None, 5_000, 90, roots=True)
        assert {one.thread_id for one in roots.threads} == names - {"t1~child"}
        assert roots.read_units > 0
