"""The boundary of a batch: a record fails alone, except that a FIFO group stops at its first failure."""

import json
import logging
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from core.errors import StoreUnavailable
from handlers.batch import run_batch
from handlers.logs import logger
from handlers.records import QueueRecord, records_of

EVENT = json.loads((Path(__file__).parents[1] / "events" / "two_groups.json").read_text())
A1, B1, A2 = (record["messageId"] for record in EVENT["Records"])


def failing(*bodies: str, error: Exception) -> tuple[Callable[[QueueRecord], Any], list[str]]:
    tried: list[str] = []

    async def process(record: QueueRecord) -> str:
        tried.append(record.body)
        if record.body in bodies:
            raise error
        return "done"

    return process, tried


@pytest.mark.parametrize("error", [StoreUnavailable("x"), ValueError("x"), RecursionError()])
@pytest.mark.parametrize(
    ("bad", "failed", "tried"),
    [
        ((), [], {"a1", "b1", "a2"}),
        (("a1",), [A1, A2], {"a1", "b1"}),
        (("b1",), [B1], {"a1", "b1", "a2"}),
        (("a2",), [A2], {"a1", "b1", "a2"}),
        (("a1", "b1"), [A1, B1, A2], {"a1", "b1"}),
    ],
    ids=["none", "first of a group", "only one of a group", "last of a group", "two groups"],
)
async def test_after_a_failure_the_rest_of_its_group_fails_too(
    error: Exception, bad: tuple[str, ...], failed: list[str], tried: set[str]
) -> None:
    process, seen = failing(*bad, error=error)
    response = await run_batch(EVENT, process)
    assert [item["itemIdentifier"] for item in response["batchItemFailures"]] == failed
    assert set(seen) == tried


async def test_records_of_a_standard_queue_fail_alone() -> None:
    records = [
        record | {"attributes": {k: v for k, v in record["attributes"].items() if k != "MessageGroupId"}}
        for record in EVENT["Records"]
    ]
    process, _ = failing("a1", error=ValueError())
    assert await run_batch({"Records": records}, process) == {"batchItemFailures": [{"itemIdentifier": A1}]}


async def test_a_log_line_carries_ids_and_no_content(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = {"Records": [EVENT["Records"][0] | {"body": "secret words"}]}
    process, _ = failing("secret words", error=ValueError("secret words"))
    lines = StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(logger().registered_formatter)
    monkeypatch.setattr(logging.getLogger(logger().service), "handlers", [handler])
    await run_batch(secret, process)
    (line,) = map(json.loads, lines.getvalue().splitlines())
    assert (line["message_id"], line["group"], line["error"]) == (A1, "a", "ValueError")
    assert "secret" not in lines.getvalue()


@pytest.mark.parametrize(("action", "lines"), [("refused", 1), ("parked", 1), ("accepted", 0)])
async def test_a_body_that_is_kept_for_people_is_logged_at_every_level(
    monkeypatch: pytest.MonkeyPatch, action: str, lines: int
) -> None:
    async def process(record: QueueRecord) -> str:
        return action

    logged = StringIO()
    errors_only = logging.StreamHandler(logged)
    errors_only.setLevel(logging.ERROR)
    monkeypatch.setattr(logging.getLogger(logger().service), "handlers", [errors_only])
    await run_batch({"Records": EVENT["Records"][:1]}, process)
    assert len(logged.getvalue().splitlines()) == lines


def test_another_delivery_of_a_message_is_another_attempt() -> None:
    (first, *_) = records_of(EVENT)
    again = records_of({"Records": [EVENT["Records"][0] | {"receiptHandle": "other"}]})[0]
    assert first.attempt != again.attempt
    assert (first.message_id, first.group, first.sender) == (again.message_id, "a", "AIDAIO23YVJENQZJOL4VO")
    assert first.sent_at.isoformat() == "2019-11-08T22:18:30.774000+00:00"
