"""What leaves a slice has the fields of contract.md, "Messages out" and "Tool calls to a worker": all, and no more."""

from typing import Any

from tests.support.inputs import result, user
from tests.support.played import USAGE, calls, says
from tests.support.world import WEB, world

FETCH = ("fetch", {"url": "u"})
COMMON = {"v", "type", "output_id", "thread_id", "root_thread_id", "seq", "metadata", "created_at"}
HEAD = {"v": 1, "thread_id": "t1", "root_thread_id": "t1", "metadata": {"user_id": "u1", "k": [1]}}
CITED = {"url": "https://a", "title": "A", "snippet": ""}


def _own(output: dict[str, Any]) -> dict[str, Any]:
    """What an output has beside the common fields, which it must all have."""
    assert set(output) >= COMMON
    assert {key: output[key] for key in HEAD} == HEAD
    assert output["created_at"] == "2025-01-01T00:00:00.000Z"
    return {key: value for key, value in output.items() if key not in COMMON}


async def test_answers_started_tools_and_errors_have_the_fields_of_the_contract() -> None:
    one = world(calls(FETCH, text="Looking."), says("Found."))
    await one.run(user("go", metadata={"user_id": "u1", "k": [1]}))
    (call_id,) = await one.live()
    await one.run(result(call_id, sources=[CITED]))
    await one.run(user("something else"))
    started_by, started, answered, conflict = one.dispatcher.outputs
    usage = USAGE.model_dump()
    spoken = {"text": "Looking.", "final": False, "usage": usage, "stop_reason": "tool_use"}
    assert _own(started_by) == spoken
    assert _own(started) == {"call_id": call_id, "name": "fetch", "args": {"url": "u"}}
    final = {"text": "Found.", "final": True, "usage": usage, "stop_reason": "end_turn", "citations": [CITED]}
    assert _own(answered) == final
    refused = _own(conflict)
    assert refused.pop("message")
    assert refused == {"code": "conflict", "message_id": "m1", "retryable": False}
    kinds = ["assistant_message", "tool_started", "assistant_message", "error"]
    assert [output["type"] for output in one.dispatcher.outputs] == kinds
    assert [output["seq"] for output in one.dispatcher.outputs] == [3, 3, 5, 5]


async def test_an_error_of_a_commit_has_the_fields_of_the_contract() -> None:
    one = world([*says()])
    await one.run(user("go", metadata={"user_id": "u1", "k": [1]}))
    (error,) = one.dispatcher.outputs
    told = _own(error)
    assert told.pop("message")
    assert told == {"code": "model", "message_id": "m1", "retryable": False}


async def test_a_call_and_its_cancellation_have_the_fields_of_the_contract() -> None:
    one = world(calls(FETCH), says("stopped"))
    await one.run(user("go", metadata={"user_id": "u1", "k": [1]}))
    (call_id,) = await one.live()
    await one.run(user("never mind", "m2"))
    call, cancellation = one.dispatcher.bodies(WEB)
    expected = {**HEAD, "type": "tool_call", "thread_ancestors": [], "call_id": call_id, "name": "fetch"}
    assert call == {
        **expected,
        "args": {"url": "u"},
        "user_id": "u1",
        "deadline": "2025-01-01T00:10:00.000Z",
    }
    assert cancellation == {"type": "tool_cancel", "thread_id": "t1", "call_id": call_id}
