"""`LocalTorpor` as contract.md describes it: a user's view of the local stack."""

import asyncio
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest

from core.errors import DefinitionError, MisuseError
from infra.local import LocalStackError, LocalTorpor
from infra.queue_errors import Unsendable
from tests.functional.local_app import SPEC, agent, app

START = datetime(2026, 3, 8, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def local() -> Iterator[LocalTorpor]:
    """One stack for the tests that need no clock of their own; each has threads of its own."""
    with LocalTorpor(app=SPEC) as stack:
        yield stack


def _user(content: str, thread_id: str = "t1", **more: Any) -> dict[str, Any]:
    return {"type": "user_message", "thread_id": thread_id, "content": content, **more}


def _answers(local: LocalTorpor, thread_id: str = "t1") -> list[str]:
    return [output["text"] for output in local.outputs(thread_id) if output.get("final")]


def test_a_turn_with_calls_on_two_workers_and_an_inline_tool(local: LocalTorpor) -> None:
    local.send(_user("two calls"))
    local.send(_user("inline, then more", "t2"))
    local.drain()
    kinds = [output["type"] for output in local.outputs("t1")]
    assert kinds == ["assistant_message", "tool_started", "tool_started", "assistant_message"]
    assert _answers(local) == ['Found: tide is a word\n{"noted": "moon"}']
    assert [entry["kind"] for entry in local.history("t1")] == [
        *("user", "assistant", "tool_call", "tool_call", "tool_result", "tool_result", "assistant")
    ]
    assert _answers(local, "t2") == ["Found: sum is a word"]
    assert [entry["seq"] for entry in local.history("t2")] == [1, 2, 3, 4, 5, 6]
    assert len(local.outputs()) >= len(local.outputs("t1")) + len(local.outputs("t2"))


def test_an_unknown_thread_has_no_outputs_and_no_history() -> None:
    with LocalTorpor(app=SPEC) as local:
        assert local.outputs("nobody") == local.outputs() == local.history("nobody") == local.parked() == []
        local.drain()
        assert local.history("nobody") == []


def test_two_stacks_at_a_time_do_not_disturb_each_other() -> None:
    with LocalTorpor(app=SPEC) as one, LocalTorpor(app=SPEC, start=START) as other:
        one.send(_user("to one"))
        other.send(_user("to the other"))
        other.drain()
        assert one.outputs() == []
        one.drain()
        assert _answers(one) == ["You said: to one"]
        assert _answers(other) == ["You said: to the other"]


def test_history_and_parked_bodies_are_read_however_long_after_the_last_invocation() -> None:
    with LocalTorpor(app=SPEC, start=START) as local:
        local.send(_user("hello"))
        local.drain()
        local.advance(seconds=86_400)
        assert [entry["kind"] for entry in local.history("t1")] == ["user", "assistant"]
        assert local.parked() == []


async def test_it_works_inside_a_running_event_loop() -> None:
    assert asyncio.get_running_loop().is_running()
    with LocalTorpor(app=SPEC) as local:
        local.send(_user("two calls"))
        local.drain()
        assert len(_answers(local)) == 1


@pytest.mark.parametrize("given", [app, agent], ids=["app", "agent"])
def test_an_app_may_be_given_as_an_object(given: Any) -> None:
    with LocalTorpor(app=given) as local:
        local.send(_user("hello"))
        local.drain()
        assert _answers(local) == ["You said: hello"]


def test_a_producers_duplicate_reaches_the_handler_and_changes_nothing(local: LocalTorpor) -> None:
    first, second = (local.send(_user("hello", "twice", message_id="m1")) for _ in range(2))
    assert first != second
    local.drain()
    assert _answers(local, "twice") == ["You said: hello"]
    assert [entry["kind"] for entry in local.history("twice")] == ["user", "assistant"]
    local.send(_user("something else", "twice", message_id="m1"))
    local.drain()
    assert local.outputs("twice")[-1]["code"] == "conflict"


def test_raw_text_is_sent_as_it_is_and_refused(local: LocalTorpor) -> None:
    message_id = local.send("{not json", thread_id="raw", sender="AROAEXAMPLE:someone")
    local.send(_user("still works", "raw"))
    local.drain()
    assert ("{not json", message_id) in [(parked["body"], parked["message_id"]) for parked in local.parked()]
    assert _answers(local, "raw") == ["You said: still works"]
    with pytest.raises(Unsendable):
        local.send("a\x00b", thread_id="raw")


def test_several_inputs_at_a_time_give_the_same_end() -> None:
    with LocalTorpor(app=SPEC, batch_size=10) as local:
        for number in range(4):
            local.send(_user(f"number {number}", f"t{number % 2}"))
        local.drain()
        assert _answers(local, "t0") == ["You said: number 0", "You said: number 2"]
        assert _answers(local, "t1") == ["You said: number 1", "You said: number 3"]


def test_a_clock_with_a_start_stands_until_it_is_moved() -> None:
    with LocalTorpor(app=SPEC, start=START) as local:
        local.send(_user("hello"))
        local.drain()
        assert local.outputs("t1")[0]["created_at"] == "2026-03-08T12:00:00.000Z"
        local.advance(seconds=90)
        assert local.clock.now() == START + timedelta(seconds=90)


def test_a_clock_without_a_start_begins_at_the_real_time() -> None:
    before = datetime.fromtimestamp(0, UTC)
    with LocalTorpor(app=SPEC) as local:
        earlier = local.clock.now()
        local.advance(3600)
        assert before < earlier < local.clock.now() - timedelta(seconds=3599)


def test_advancing_fires_what_is_due_and_nothing_else() -> None:
    with LocalTorpor(app=SPEC, start=START) as local:
        local.send(_user("patience"))
        local.drain()
        assert _answers(local) == []
        local.advance(30)
        assert _answers(local) == []
        local.advance(30)
        assert _answers(local) == ["At last."]


def test_what_never_comes_to_rest_is_told(local: LocalTorpor) -> None:
    local.send(_user("two calls", "restless"))
    with pytest.raises(LocalStackError, match="input"):
        local.drain(most_invocations=2)
    local.drain()
    assert len(_answers(local, "restless")) == 1


def test_a_huge_value_comes_back_from_s3(local: LocalTorpor) -> None:
    local.send(_user("x" * 300_000, "huge"))
    local.drain()
    assert local.history("huge")[0]["content"][0]["text"] == "x" * 300_000


def test_the_endpoint_serves_any_client(local: LocalTorpor) -> None:
    session = boto3.session.Session("id", "secret", region_name="us-east-1")
    sqs = session.client("sqs", endpoint_url=local.endpoint_url)
    urls = sqs.list_queues()["QueueUrls"]
    sqs.close()
    assert sum(url.endswith("input.fifo") for url in urls) >= 1


def test_closing_leaves_nothing_behind() -> None:
    threads = set(threading.enumerate())
    local = LocalTorpor(app=SPEC)
    local.send(_user("two calls"))
    local.drain()
    local.close()
    local.close()
    left = [thread for thread in threading.enumerate() if thread not in threads and not thread.daemon]
    assert left == []
    with pytest.raises(MisuseError):
        local.drain()


@pytest.mark.parametrize(
    ("spec", "model"),
    [("tests.functional.nowhere:app", None), (SPEC, "script:nowhere.json"), (SPEC, "unknown:model")],
)
def test_an_app_or_model_that_cannot_be_had_is_told_at_once(spec: str, model: str | None) -> None:
    threads = threading.active_count()
    with pytest.raises(DefinitionError):
        LocalTorpor(app=spec, model=model)
    assert threading.active_count() <= threads + 1
