"""What lies in the table and the bucket, as storage.md says: others read it too (the sweeper, people, older code)."""

import gzip
import json
from datetime import timedelta
from typing import Any

import pytest

from core.blocks import StoredBlock
from core.commit import Base, Checkpoint
from core.errors import UnreadableRecord
from core.fold import fold_commits
from core.outbox import SendReport
from core.thread import Deferred, FoldedThread, Summary
from infra.aws_limits import ITEM_BYTES, item_bytes
from infra.dynamodb.large import GONE_NOTE
from tests.contract.commits import THREAD, key, made, settle, turn, user, with_base, with_metadata
from tests.contract.samples import CALL, OUTBOXES, SIZES, noise
from tests.contract.stores import BUCKET, START, DynamoStores, OpenedDynamo

FIRST = "C#000000000001"


def epoch(days: int) -> dict[str, str]:
    return {"N": str(int((START + timedelta(days=days)).timestamp()))}


async def objects(opened: OpenedDynamo) -> list[str]:
    listed = await opened.s3.list_objects_v2(Bucket=BUCKET)
    return [found["Key"] for found in listed.get("Contents", ())]


async def rewrite(opened: OpenedDynamo, sk: str, **attributes: Any) -> None:
    item = (await opened.items())[sk]
    await opened.dynamodb.put_item(TableName=opened.table, Item=item | attributes)


async def test_a_settled_commit_leaves_these_items(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        commit = turn(1, at=START, changes=with_metadata(1, user_id="u").changes)
        await settle(opened.store, commit)
        items = await opened.items()
        assert items["TIP"] == _item("TIP", n={"N": "1"}, expires_at=epoch(90))
        marker = _item("MSG#user_message#m1", n={"N": "1"}, digest={"S": "body of m1"}, expires_at=epoch(60))
        assert items["MSG#user_message#m1"] == marker
        assert items["META"] == _item("META", n={"N": "1"}, **{"m:user_id": {"S": '"u"'}})
        written = {"from": {"N": "1"}, "seq": {"N": "1"}, "v": {"N": "1"}, "digest": {"S": commit.digest}}
        assert items[FIRST].items() >= _item(FIRST, **written).items()
        assert set(items) == {FIRST, "TIP", "META", "MSG#user_message#m1"}


def _item(sk: str, **attributes: dict[str, str]) -> dict[str, dict[str, str]]:
    return {"pk": {"S": f"T#{THREAD}"}, "sk": {"S": sk}} | attributes


async def test_a_thread_that_waits_does_not_expire(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        for number, waiting in enumerate((False, True, False), start=1):
            await settle(opened.store, turn(number, at=START), waiting=waiting)
            tip = (await opened.items())["TIP"]
            assert tip.get("expires_at") == (None if waiting else epoch(90))


async def test_a_base_leaves_its_number_by_what_it_covers(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        before = [turn(1), turn(2)]
        for commit in (*before, with_base(3, before, up_to_seq=3, from_number=2)):
            await settle(opened.store, commit)
        summary = _item("SUM#000000000003", n={"N": "3"}, **{"from": {"N": "2"}})
        assert (await opened.items())["SUM#000000000003"] == summary


async def test_a_commit_is_gzipped_only_where_that_saves_a_write_unit(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        await opened.store.commit(turn(1))
        await opened.store.commit(turn(2, "many words, " * 1_000))
        items = await opened.items()
        assert "j" in items[FIRST]
        assert "z" not in items[FIRST]
        gzipped = items["C#000000000002"]
        assert json.loads(gzip.decompress(gzipped["z"]["B"]))["number"] == 2
        assert item_bytes(gzipped) < 1_024


@pytest.mark.parametrize("entries", SIZES.values(), ids=SIZES)
async def test_no_item_is_over_the_limit(dynamo: DynamoStores, entries: Any) -> None:
    async with dynamo.open() as opened:
        await opened.store.commit(made(1, entries, thread_id="sizes"))
        assert item_bytes((await opened.items())[FIRST]) <= ITEM_BYTES


@pytest.mark.parametrize("outbox", OUTBOXES.values(), ids=OUTBOXES)
async def test_only_the_large_parts_of_an_outbox_go_to_s3(dynamo: DynamoStores, outbox: Any) -> None:
    async with dynamo.open() as opened:
        await opened.store.commit(made(1, [CALL], thread_id="outboxes", outbox=outbox))
        item = (await opened.items())[FIRST]
        assert item_bytes(item) < 2_048
        assert "s3" not in item


async def test_a_text_of_an_outbox_that_is_gone_becomes_a_note(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        report = SendReport(parent="p", call_id="call_1", text=noise(70_000, "report"))
        await opened.store.commit(commit := made(1, [CALL], thread_id="report-gone", outbox=[report]))
        (stored,) = [found for found in await objects(opened) if found.startswith("payloads/t-report-gone/")]
        await opened.s3.delete_object(Bucket=BUCKET, Key=stored)
        loaded = (await opened.another().load("report-gone")).last
        assert loaded is not None
        assert loaded.digest == commit.digest
        assert loaded.outbox == (report.model_copy(update={"text": GONE_NOTE}),)


@pytest.mark.parametrize(
    ("size", "moved", "body_too"),
    [
        ("100 KB of text", 1, False),
        ("390 KB of many small blocks", 0, False),
        ("600 KB of middling blocks", 8, False),
        ("600 KB of many small blocks", 0, True),
        ("600 KB of call arguments", 0, True),
    ],
)
async def test_as_little_as_needed_goes_to_s3(
    dynamo: DynamoStores, size: str, moved: int, body_too: bool
) -> None:
    async with dynamo.open() as opened:
        await opened.store.commit(made(1, SIZES[size]))
        item = (await opened.items())[FIRST]
        assert len(json.loads(item["large"]["S"]) if "large" in item else ()) == moved
        assert ("s3" in item) == body_too


async def test_large_blocks_lie_in_s3_under_their_thread(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        commit = made(1, [user(noise(70_000, "s3"), "small")], thread_id="large-blocks")
        await opened.store.commit(commit)
        await opened.store.commit(commit)
        (stored,) = [found for found in await objects(opened) if found.startswith("payloads/t-large-blocks/")]
        body = await (await opened.s3.get_object(Bucket=BUCKET, Key=stored))["Body"].read()
        assert json.loads(body) == {"type": "text", "text": noise(70_000, "s3")}
        assert item_bytes((await opened.items())[FIRST]) < 1_024


async def test_a_payload_that_is_gone_becomes_a_note(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        commit = made(1, [user(noise(70_000, "gone"), "small")], thread_id="gone")
        await opened.store.commit(commit)
        (stored,) = [found for found in await objects(opened) if found.startswith("payloads/t-gone/")]
        await opened.s3.delete_object(Bucket=BUCKET, Key=stored)
        loaded = await opened.another().load("gone")
        assert loaded.last is not None
        assert loaded.last.digest == commit.digest
        gone, small = loaded.last.entries[0].content  # type: ignore[union-attr]
        assert isinstance(gone, StoredBlock)
        assert gone.note
        assert small == commit.entries[0].content[1]  # type: ignore[union-attr]
        await opened.another().commit(commit)


async def test_a_block_that_only_looks_stored_is_never_resolved(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        await opened.store.commit(made(1, [user(noise(70_000, "secret"))], thread_id="victim"))
        (secret,) = [found for found in await objects(opened) if found.startswith("payloads/t-victim/")]
        forged = StoredBlock(s3=f"s3://{BUCKET}/{secret}", size_bytes=70_000)
        commit = made(1, [user(forged)], thread_id="thief")
        await opened.store.commit(commit)
        assert (await opened.another().load("thief")).last == commit


async def test_a_large_snapshot_lies_in_s3_and_must_be_there(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        first = turn(1, thread_id="snapshot")
        deferred = Deferred(entry=user(noise(70_000)), message_id="m1")
        snapshot = fold_commits(FoldedThread(), [first]).state.model_copy(update={"deferred": (deferred,)})
        base = Base(summary=Summary(text="so far", up_to_seq=2), snapshot=snapshot)
        commit = made(2, first_seq=3, from_number=2, thread_id="snapshot", base=base)
        for one in (first, commit):
            await opened.store.commit(one)
        assert (await opened.another().load("snapshot")).folded.state.deferred == (deferred,)
        (stored,) = [found for found in await objects(opened) if found.startswith("payloads/t-snapshot/")]
        await opened.s3.delete_object(Bucket=BUCKET, Key=stored)
        with pytest.raises(UnreadableRecord):
            await opened.another().load("snapshot")


async def test_what_a_checkpoint_carries_lies_in_s3_when_large_and_must_be_there(
    dynamo: DynamoStores,
) -> None:
    async with dynamo.open() as opened:
        first = made(1, [user(*[noise(9_000, str(number)) for number in range(9)])], thread_id="carried")
        state = fold_commits(FoldedThread(), [first]).state
        checkpoint = Checkpoint(snapshot=state, carried=first.entries)
        commit = made(2, first_seq=2, from_number=2, thread_id="carried")
        for one in (first, commit.model_copy(update={"checkpoint": checkpoint})):
            await opened.store.commit(one)
        assert (await opened.another().load("carried")).folded.entries == first.entries
        (stored,) = [found for found in await objects(opened) if found.startswith("payloads/t-carried/")]
        await opened.s3.delete_object(Bucket=BUCKET, Key=stored)
        with pytest.raises(UnreadableRecord):
            await opened.another().load("carried")


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param({"v": {"N": "2"}}, id="a newer version"),
        pytest.param({"j": {"S": "{"}}, id="not JSON"),
        pytest.param({"j": {"S": '{"v":1}'}}, id="fields missing"),
        pytest.param({"j": {"NULL": True}}, id="no record"),
        pytest.param({"j": {"NULL": True}, "z": {"B": b"\x1f\x8bbroken"}}, id="not gzip"),
        pytest.param({"large": {"S": '[["entries",7,"content",0]]'}}, id="a path to nowhere"),
    ],
)
async def test_a_record_that_cannot_be_read_is_never_skipped(dynamo: DynamoStores, damage: Any) -> None:
    async with dynamo.open() as opened:
        await opened.store.commit(turn(1))
        await opened.store.commit(turn(2))
        await rewrite(opened, "C#000000000002", **damage)
        with pytest.raises(UnreadableRecord):
            await opened.another().load(THREAD, [key(1)])
        with pytest.raises(UnreadableRecord):
            await opened.another().entries(THREAD)
