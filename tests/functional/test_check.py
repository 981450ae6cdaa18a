"""`torpor check` on a local stack: healthy threads pass, and each broken row, payload or neighbour is found."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import boto3
import pytest

from infra.dynamodb.keys import Item
from infra.local import LocalTorpor
from tests.functional.on_stack import KEYS, Commands, cut_off
from tests.functional.team_app import SPEC as TEAM
from tests.functional.waiting_app import SPEC as WAITING

pytestmark = pytest.mark.slow

LONG = "x" * 70_000
"""Goes to S3."""


@cache
def clients(endpoint_url: str) -> tuple[Any, Any]:
    """Of DynamoDB and S3."""
    dynamodb, s3 = (boto3.client(name, endpoint_url=endpoint_url, **KEYS) for name in ("dynamodb", "s3"))
    return dynamodb, s3


class Stored(Commands):
    """What a local stack has stored, row by row."""

    def __init__(self, local: LocalTorpor, capsys: pytest.CaptureFixture[str]) -> None:
        super().__init__(local, capsys)
        outputs = self.stack.outputs
        self.table, self.bucket = outputs["TableName"], outputs["PayloadBucketName"]
        self.dynamodb, self.s3 = clients(local.endpoint_url)

    def rows(self, thread_id: str, begins: str = "") -> list[Item]:
        found: list[Item] = self.dynamodb.query(
            TableName=self.table,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": f"T#{thread_id}"}},
        )["Items"]
        return [row for row in found if row["sk"]["S"].startswith(begins)]

    def put(self, row: Item) -> None:
        self.dynamodb.put_item(TableName=self.table, Item=row)

    def delete(self, row: Item) -> None:
        self.dynamodb.delete_item(TableName=self.table, Key={"pk": row["pk"], "sk": row["sk"]})

    def payloads(self) -> dict[str, bytes]:
        keys = [one["Key"] for one in self.s3.list_objects_v2(Bucket=self.bucket)["Contents"]]
        return {key: self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read() for key in keys}

    def check(self, thread_id: str = "t1") -> tuple[int, str]:
        code, lines, _ = self.run("check", thread_id)
        return code, "\n".join(lines)


Break = Callable[[Stored], None]


@pytest.fixture(scope="module")
def waiting() -> Iterator[LocalTorpor]:
    """A thread that was asked several times, with metadata, a summary and a long text; it sleeps."""
    with LocalTorpor(app=WAITING) as local:
        for text in ("hi", LONG):
            local.send(
                {"type": "user_message", "thread_id": "t1", "content": text, "metadata": {"user_id": "ada"}}
            )
            local.drain()
        local.send({"type": "compact", "thread_id": "t1"})
        local.drain()
        local.send({"type": "user_message", "thread_id": "t1", "content": "nap"})
        local.drain()
        yield local


@pytest.fixture
def stored(waiting: LocalTorpor, capsys: pytest.CaptureFixture[str]) -> Iterator[Stored]:
    """Everything is put back after the test."""
    one = Stored(waiting, capsys)
    rows, payloads = one.rows("t1"), one.payloads()
    yield one
    there = one.rows("t1")
    for row in there:
        if row["sk"] not in [known["sk"] for known in rows]:
            one.delete(row)
    for row in rows:
        if row not in there:
            one.put(row)
    for key, body in payloads.items():
        one.s3.put_object(Bucket=one.bucket, Key=key, Body=body)


def test_healthy_threads_pass(stored: Stored) -> None:
    assert stored.rows("t1", "SUM#") != []
    assert stored.check() == (0, "")


def _gone(begins: str) -> Break:
    def change(stored: Stored) -> None:
        stored.delete(stored.rows("t1", begins)[0])

    return change


def _changed(begins: str, **attributes: Any) -> Break:
    def change(stored: Stored) -> None:
        row = stored.rows("t1", begins)[0]
        stored.put({**row, **{name.replace("__", ":"): value for name, value in attributes.items()}})

    return change


def _another(begins: str, sort_key: str) -> Break:
    def change(stored: Stored) -> None:
        stored.put({**stored.rows("t1", begins)[0], "sk": {"S": sort_key}})

    return change


def _text_edited(stored: Stored) -> None:
    row = next(row for row in stored.rows("t1", "C#") if "j" in row)
    stored.put({**row, "j": {"S": row["j"]["S"].replace('"at":"20', '"at":"19')}})


def _payload_gone(stored: Stored) -> None:
    for key in stored.payloads():
        stored.s3.delete_object(Bucket=stored.bucket, Key=key)


def _payload_changed(stored: Stored) -> None:
    for key, body in stored.payloads().items():
        stored.s3.put_object(Bucket=stored.bucket, Key=key, Body=body.replace(b"xxx", b"yyy"))


N1, N99 = {"N": "1"}, {"N": "99"}


@pytest.mark.parametrize(
    ("change", "where", "code"),
    [
        (_gone("C#000000000002"), "commit 3: commits 2 to 2", 1),
        (_text_edited, "its content is not", 1),
        (_changed("C#000000000002", **{"from": N99}), "commit 2: from 99", 1),
        (_changed("C#000000000002", v=N99), "commit 2: cannot be read", 1),
        (_gone("TIP"), "TIP: it is at commit 0", 1),
        (_changed("TIP", n=N99), "TIP: it is at commit 99", 1),
        (_gone("MSG#user_message"), "MSG#user_message", 1),
        (_changed("MSG#user_message", digest={"S": "x"}), "another body", 1),
        (_changed("MSG#user_message", n={"N": "3"}), "it names commit 3", 1),
        (_another("MSG#", "MSG#cancel#never"), "MSG#cancel#never", 1),
        (_gone("SUM#"), "SUM#", 1),
        (_changed("SUM#", n=N1), "does not lead to", 1),
        (_another("SUM#", "SUM#000000000001"), "SUM#000000000001", 1),
        (_gone("META"), "META user_id", 1),
        (_changed("META", m__user_id={"S": '"eve"'}), "META user_id: it is not", 1),
        (_another("META", "READER#t1~nobody"), "READER#t1~nobody", 0),
        (_payload_gone, "is gone", 0),
        (_payload_changed, "another content", 1),
    ],
)
def test_what_is_broken_is_found_and_what_to_do_is_told(
    stored: Stored, change: Break, where: str, code: int
) -> None:
    change(stored)
    found, said = stored.check()
    assert (found, where in said) == (code, True), said
    told = said.splitlines()
    assert [line.split()[0] in ("BROKEN", "look", "→") for line in told] == [True] * len(told)
    assert said.count("→") * 2 == len(told)


def test_what_is_around_a_thread_is_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    with LocalTorpor(app=TEAM) as local:
        one = Stored(local, capsys)
        local.send({"type": "user_message", "thread_id": "t1", "content": "go"})
        local.drain()
        spawned = [out["child_thread_id"] for out in local.outputs("t1") if out["type"] == "thread_spawned"]
        assert [one.check(thread_id) for thread_id in ("t1", *spawned)] == [(0, "")] * (1 + len(spawned))
        reader = one.rows("t1", "READER#")[0]
        one.delete(reader)
        code, said = one.check()
        assert (code, "does not say so" in said) == (1, True), said
        child = reader["sk"]["S"].removeprefix("READER#")
        one.delete(one.rows("t1", "C#")[0])
        code, said = one.check(child)
        assert (code, "lineage: " in said) == (1, True), said


def test_an_open_child_without_a_log_and_a_commit_that_was_cut_off_are_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with LocalTorpor(app=TEAM) as local:
        one = Stored(local, capsys)
        cut_off(one.stack, TEAM, type="user_message", thread_id="t1", content="go")
        code, said = one.check()
        assert code == 0
        assert said.count("has no log") == 3
        assert "TIP: commit 1 is not settled" in said
        assert one.run("settle", "t1")[0] == 0
        local.drain()
        assert one.check() == (0, "")
        assert one.run("check", "nobody")[0] == 2
