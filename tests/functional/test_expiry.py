"""Threads that expire or are erased, on the local stack: the real sweeper, and the command line."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from core.errors import StoreUnavailable
from infra.local import LocalTorpor
from infra.local.resources import SWEEPER, SWEEPER_FAILURES
from tests.functional.local_app import SPEC
from tests.functional.on_stack import Commands

pytestmark = pytest.mark.slow

START = datetime(2026, 3, 8, 12, 0, tzinfo=UTC)


@pytest.fixture
def local() -> Iterator[LocalTorpor]:
    with LocalTorpor(app=SPEC, start=START) as stack:
        yield stack


def _say(local: LocalTorpor, text: str, message_id: str = "", thread_id: str = "t1", **more: Any) -> None:
    named = {"message_id": message_id} if message_id else {}
    local.send({"type": "user_message", "thread_id": thread_id, "content": text, **named, **more})
    local.drain()


def _rows(local: LocalTorpor, thread_id: str = "t1") -> set[str]:
    """Kinds of rows that are left of a thread."""
    resources = local._system.resources
    scan = resources._dynamodb.scan(TableName=resources.tables["threads"])
    rows = [item["sk"]["S"] for item in scan["Items"] if item["pk"]["S"] == f"T#{thread_id}"]
    return {row.partition("#")[0] for row in rows}


def _payloads(local: LocalTorpor) -> int:
    resources = local._system.resources
    return len(resources._s3.list_objects_v2(Bucket=resources.bucket).get("Contents", ()))


def test_a_thread_expires_while_something_still_works_on_it(local: LocalTorpor) -> None:
    """It lives: what works on it ends it, and a message in time is as good as any other."""
    _say(local, "hello", "m1", metadata={"user_id": "u"})
    local.advance(days=89)
    _say(local, "two calls", "m2")
    local.advance(days=89)
    assert len(local.history("t1")) > 4
    local.advance(days=2)
    assert local.history("t1") == []
    assert _rows(local) == {"C", "META", "TIP"}
    _say(local, "and now", "m3")
    assert [entry["kind"] for entry in local.history("t1")] == ["user", "assistant"]
    assert local.outputs("t1")[-1]["text"] == "You said: and now"
    assert local.outputs("t1")[-1]["metadata"] == {}


def test_nothing_is_left_of_a_thread_that_nobody_wants_back(local: LocalTorpor) -> None:
    _say(local, "x" * 70_000, "m1", metadata={"user_id": "u"})
    assert _payloads(local) > 0
    local.advance(days=91)
    assert _payloads(local) == 0
    local.advance(days=61)
    assert _rows(local) == set()
    _say(local, "hello", "m1")
    assert local.outputs("t1")[-1]["text"] == "You said: hello"


def test_a_sweep_that_fails_is_tried_again_and_told_to_people_in_the_end() -> None:
    failing = [StoreUnavailable("throttled")] * 2

    class Failing:
        def __init__(self, container: Any) -> None:
            self._container = container

        def __getattr__(self, name: str) -> Any:
            if name == "store" and failing:
                raise failing.pop()
            return getattr(self._container, name)

    def wrap(function: str, container: Any) -> Any:
        return Failing(container) if function == SWEEPER else container

    with LocalTorpor(app=SPEC, start=START, wrap_ports=wrap) as local:
        _say(local, "hello")
        local.advance(days=91)
        assert (local.history("t1"), failing) == ([], [])
        _say(local, "hello")
        failing += [StoreUnavailable("throttled")] * 400
        local.advance(days=91)
        assert len(local.history("t1")) == 2
        queue = local._system.resources.queues[SWEEPER_FAILURES]
        told = local._system.sqs.receive_message(QueueUrl=queue.url)["Messages"]
        assert "startSequenceNumber" in told[0]["Body"]


def test_a_thread_is_erased_while_something_still_works_on_it(
    local: LocalTorpor, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = Commands(local, capsys)
    local.send({"type": "user_message", "thread_id": "t1", "content": "two calls", "message_id": "m1"})
    agent = next(source for source in local._system.sources if source.name == "input")
    assert agent.step()
    assert [entry["kind"] for entry in local.history("t1")][-2:] == ["tool_call", "tool_call"]
    code, lines, _ = commands.run("erase", "t1")
    assert (code, lines[0]) == (0, "t1: erased, 1 commits and 0 payloads")
    local.drain()
    assert local.history("t1") == [], "the results answer nothing"
    _say(local, "two calls", "m2")
    assert [entry["kind"] for entry in local.history("t1")].count("tool_result") == 2
    assert commands.run("erase", "t1")[0] == 0
    assert commands.run("erase", "t1")[:2] == (0, ["t1: erased, 0 commits and 0 payloads", lines[1]])
    assert commands.run("erase", "t2")[:2] == (0, ["t2: there is no such thread"])


def test_what_keeps_a_thread_is_told(local: LocalTorpor, capsys: pytest.CaptureFixture[str]) -> None:
    commands = Commands(local, capsys)
    _say(local, "hello")
    assert commands.run("fork", "t1", "--at", "2", "--to", "copy")[0] == 0
    code, _, error = commands.run("erase", "t1")
    assert code == 1
    assert "copy" in error
    assert commands.run("erase", "copy")[0] == 0
    assert commands.run("erase", "t1")[0] == 0


def test_parked_bodies_for_an_erased_thread_are_told(
    local: LocalTorpor, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = Commands(local, capsys)
    for text in ("hello", "another text under this id"):
        _say(local, text, "m1")
        _say(local, text, "m1", thread_id="t2")
    code, lines, _ = commands.run("erase", "t1")
    told = [line.rpartition("dlq drop ")[2] for line in lines if "dlq drop" in line]
    assert (code, len(told)) == (0, 1)
    assert commands.run("dlq", "drop", *told)[0] == 0
    assert not any("dlq drop" in line for line in commands.run("erase", "t1")[1])
    assert [line.split()[-1] for line in commands.run("erase", "t2")[1] if "dlq drop" in line] != told
