"""What earlier versions have stored is read as they read it; what a newer one has is refused, and not damaged.

`stored/` holds tables and buckets as the code of that time left them, and the histories that it showed. None is ever
written again: a new one is added when what is stored changes.
"""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from core.entries import Entry, entry_dict
from core.erasing import erase, erase_tree, sweep
from core.errors import UnreadableRecord
from core.history import HistoryManager
from core.upcasting import SCHEMA_VERSION
from infra.dynamodb import DynamoStore
from infra.dynamodb.keys import commit_sort_key, item_key, partition
from tests.contract.commits import THREAD, settle, turn, user
from tests.contract.erasing import removed
from tests.contract.stores import DynamoStores, OpenedDynamo

FOLDER = Path(__file__).parent / "stored"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
LARGE = {"children_and_events", "waiting_and_state"}
EACH = [pytest.param(name, marks=[pytest.mark.slow] if name in LARGE else []) for name in NAMES]
REPEATED = {"<66000 y>": "y" * 66_000, "<9000 z>": "z " * 9_000, "<3000 z>": "z " * 3_000}


def stored(name: str) -> list[dict[str, Any]]:
    """The stacks of a time."""
    text = (FOLDER / f"{name}.json").read_text()
    for short, whole in REPEATED.items():
        text = text.replace(short, whole)
    found: list[dict[str, Any]] = json.loads(text)
    return found


def in_client_form(item: dict[str, Any]) -> dict[str, Any]:
    """With its bytes."""
    if "z" in item:
        return item | {"z": {"B": base64.b64decode(item["z"]["B"]["base64"])}}
    return item


@asynccontextmanager
async def restored(dynamo: DynamoStores, stack: dict[str, Any]) -> AsyncIterator[OpenedDynamo]:
    """A store over the table and the bucket as they were."""
    async with dynamo.open() as opened:
        await opened.s3.create_bucket(Bucket=stack["bucket"])
        for key, text in stack["objects"].items():
            await opened.s3.put_object(Bucket=stack["bucket"], Key=key, Body=text.encode())
        items = [in_client_form(item) for item in stack["items"]]
        for start in range(0, len(items), 25):
            puts = [{"PutRequest": {"Item": item}} for item in items[start : start + 25]]
            await opened.dynamodb.batch_write_item(RequestItems={opened.table: puts})
        yield opened


async def everything(store: DynamoStore, thread_id: str) -> list[dict[str, Any]]:
    entries: tuple[Entry, ...] = await store.entries(thread_id)
    return [entry_dict(entry) for entry in entries]


@pytest.mark.parametrize("name", EACH)
async def test_records_written_by_an_older_version_are_read_and_gone_on_with(
    dynamo: DynamoStores, name: str
) -> None:
    for stack in stored(name):
        async with restored(dynamo, stack) as opened:
            store = opened.keeper(stack["bucket"])
            for thread_id, before in stack["histories"].items():
                assert await everything(store, thread_id) == before
                manager = await HistoryManager.new_with_history(store, thread_id)
                assert [entry.seq for entry in manager.draft.history][-1:] == [
                    entry["seq"] for entry in before[-1:]
                ]
                if manager.state.closed or (manager.unsettled and manager.unsettled.outbox):
                    continue
                assert manager.handle_content(user("and now"), "now")
                await manager.sync()
                assert len(await everything(store, thread_id)) > len(before)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
async def test_what_an_older_version_has_stored_is_erased_as_any(dynamo: DynamoStores, name: str) -> None:
    stack = stored(name)[0]
    async with restored(dynamo, stack) as opened:
        store = opened.keeper(stack["bucket"])
        for thread_id in stack["histories"]:
            for outcome in await erase_tree(store, thread_id, opened.clock):
                removed(outcome)
        left = await opened.s3.list_objects_v2(Bucket=stack["bucket"])
        assert left.get("Contents", []) == []


async def test_records_written_by_a_newer_version_are_refused_and_not_damaged(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        for number in (1, 2):
            await settle(opened.keeper(), turn(number))
        key = item_key(partition(THREAD), commit_sort_key(2))
        await opened.dynamodb.update_item(
            TableName=opened.table,
            Key=key,
            UpdateExpression="SET #v = :v",
            ExpressionAttributeNames={"#v": "v"},
            ExpressionAttributeValues={":v": {"N": str(SCHEMA_VERSION + 1)}},
        )
        store, before = opened.keeper(), await opened.items()
        for work in (
            lambda: store.load(THREAD),
            lambda: store.entries(THREAD),
            lambda: store.page(THREAD, 1, 10),
            lambda: erase(store, THREAD, opened.clock),
            lambda: sweep(store, THREAD, opened.clock, timedelta()),
        ):
            with pytest.raises(UnreadableRecord):
                await work()
        assert await opened.items() == before
