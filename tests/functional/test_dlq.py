"""`torpor dlq` over a local stack: the command line in this process, real requests, the agent that takes things in."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import boto3
import pytest

from core.ports import ParkedBody
from infra.local import LocalTorpor
from infra.operations.access import access_to
from infra.operations.parked import all_parked, remove_parked
from infra.operations.table import OperatorTable
from infra.stack import store_of
from tests.functional.on_stack import KEYS, Commands

pytestmark = pytest.mark.slow

CODES = "\x1b]0;gotcha\x07\u202e"


class Stage(Commands):
    """A local stack, what is parked on it, and what `torpor dlq` says."""

    def park(
        self, body: Any, message_id: str = "m1", source: str = "input", sender: str | None = "me"
    ) -> None:
        text = body if isinstance(body, str) else json.dumps(body)
        first_seen = self.local.clock.now()

        async def keep() -> None:
            async with store_of(self.stack) as store:
                await store.park(
                    ParkedBody(source, f"dead_letter: {CODES}", first_seen, message_id, text, sender)
                )

        asyncio.run(keep())

    def dlq(self, *arguments: str) -> tuple[int, list[str], str]:
        return self.run("dlq", *arguments)

    @property
    def ids(self) -> list[str]:
        return [line.split()[0] for line in self.dlq("list")[1]]

    def objects(self) -> list[str]:
        s3 = boto3.client("s3", endpoint_url=self.local.endpoint_url, **KEYS)
        return [
            one["Key"]
            for one in s3.list_objects_v2(Bucket=self.stack.output("PayloadBucketName")).get("Contents", ())
        ]


def user(content: str = "hi") -> dict[str, Any]:
    return {"type": "user_message", "thread_id": "t1", "content": content}


@pytest.fixture(scope="module")
def local() -> Iterator[LocalTorpor]:
    with LocalTorpor(app="tests.functional.local_app:app") as local:
        yield local


@pytest.fixture
def stage(local: LocalTorpor, capsys: pytest.CaptureFixture[str]) -> Iterator[Stage]:
    one = Stage(local, capsys)
    yield one
    one.dlq("drop", "--all")
    local.advance(seconds=600)


def test_a_body_that_is_sent_again_is_taken_in_once_under_its_id(stage: Stage) -> None:
    for _ in range(2):
        stage.park(user("once"), message_id="only")
        (known_by,) = stage.ids
        assert stage.dlq("redrive", known_by) == (0, [f"{known_by}  sent to input"], "")
        assert stage.ids == []
        stage.local.drain()
    said = [entry for entry in stage.local.history("t1") if entry["kind"] == "user"]
    assert [(entry["message_id"], entry["content"][0]["text"]) for entry in said] == [("only", "once")]


def test_what_cannot_be_sent_stays_and_the_rest_goes(stage: Stage) -> None:
    stage.park("{", message_id="a")
    stage.park("lost", message_id="b", source="worker:nobody")
    stage.park(user(), message_id="c", sender=None)
    stage.park(user(), message_id="d")
    code, sent, complaints = stage.dlq("redrive", "--all")
    assert (code, len(sent), len(complaints.splitlines())) == (1, 1, 3)
    assert len(stage.ids) == 3
    assert stage.dlq("redrive", "--vouch", "--all")[1] != []
    assert len(stage.ids) == 2


def test_a_large_body_is_shown_whole_and_goes_with_its_payload(stage: Stage) -> None:
    stage.park(user(f"{CODES}{'x' * 70_000}"), message_id="a")
    stage.park(user(f"{CODES}{'x' * 70_000}"), message_id="b")
    first, second = stage.ids
    code, shown, _ = stage.dlq("show", first)
    assert code == 0
    assert "x" * 70_000 in shown[-1]
    assert len(stage.objects()) == 2
    assert stage.dlq("drop", first)[0] == 0
    assert stage.ids == [second]
    assert len(stage.objects()) == 1


def test_nothing_that_a_terminal_obeys_is_printed(stage: Stage) -> None:
    stage.park(f"{CODES} said", message_id=CODES, source=f"worker:{CODES}", sender=CODES)
    (known_by,) = stage.ids
    for arguments in (("list",), ("show", known_by), ("redrive", known_by)):
        _, lines, complaints = stage.dlq(*arguments)
        printed = "\n".join(lines) + complaints
        assert not set(printed) & set(CODES[:1] + CODES[-2:])
        assert "\\x1b" in printed


def test_a_list_goes_on_where_it_ended_also_when_the_last_one_is_gone(stage: Stage) -> None:
    for number in range(5):
        stage.park(user(str(number)), message_id=str(number))
        stage.local.advance(1)
    everything, found, more = stage.ids, [], list[str]()
    for _ in range(3):
        _, lines, told = stage.dlq("list", "--limit", "2", *more)
        found += [line.split()[0] for line in lines]
        more = ["--after", told.rpartition("--after ")[2].strip().strip("'")]
        stage.dlq("drop", found[-1])
    assert found == everything


def test_a_removal_that_was_cut_off_hides_nothing_that_comes_later(stage: Stage) -> None:
    async def remove_half() -> None:
        async with access_to(stage.stack) as access:
            async for kept in all_parked(access):
                await access.table.delete(kept.key)

    stage.park(user())
    before = stage.ids
    asyncio.run(remove_half())
    assert stage.ids == []
    assert stage.dlq("show", before[0])[0] == 2
    stage.local.advance(1)
    stage.park(user())
    assert stage.ids == before
    assert stage.dlq("show", before[0])[0] == 0


def test_a_removal_that_was_cut_off_leaves_no_text_that_nobody_lists(stage: Stage) -> None:
    async def remove_the_text() -> None:
        async with access_to(stage.stack) as access:
            cut_off = OperatorTable(None, "none", access.patience)
            (kept,) = [kept async for kept in all_parked(access)]
            with pytest.raises(AttributeError):
                await remove_parked(replace(access, table=cut_off), kept)

    stage.park(user("x" * 70_000))
    before = stage.ids
    asyncio.run(remove_the_text())
    assert (stage.ids, stage.objects()) == (before, [])
    assert stage.dlq("redrive", before[0])[0] == 1
    assert stage.dlq("drop", before[0])[0] == 0
    assert stage.ids == []


@pytest.mark.parametrize(
    "arguments", [("redrive",), ("drop", "a", "--all"), ("show", "nothing"), ("drop", "no")]
)
def test_what_is_asked_wrongly_is_told_in_one_line(stage: Stage, arguments: tuple[str, ...]) -> None:
    code, lines, complaint = stage.dlq(*arguments)
    assert (code, lines, len(complaint.splitlines())) == (2, [], 1)


def test_the_delay_of_a_timer_is_what_is_left_of_it(stage: Stage) -> None:
    due_at = stage.local.clock.now() + timedelta(seconds=90)
    timer = {"type": "timer", "thread_id": "t1", "message_id": "m1", "due_at": due_at.isoformat()}
    stage.park(timer, source="delay")
    assert stage.dlq("redrive", "--all")[0] == 0
    stage.local.advance(100)
    assert stage.ids == []
    for action in ("redrive", "drop"):
        code, lines, told = stage.dlq(action, "--all")
        assert (code, lines, len(told.splitlines())) == (0, [], 1), "a person sees that there was nothing"
