"""Any body at all, generated, through the handlers and the local stack: its group goes on, and its error is told."""

import json
import re
from collections.abc import Iterator
from itertools import count
from typing import Any, get_args

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from core.errors import ErrorCode
from infra.local import LocalTorpor
from tests.functional.local_app import SPEC
from tests.wire.anything import any_content, any_json, any_text

numbers = count()
PLACE = "THREAD"
BODIES = 12
FIELD = re.compile(r"(body|type|v|[a-z_]+(\.\S+)*): ")

_ids = st.just(PLACE) | any_text
_message = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            [
                "user_message",
                "tool_result",
                "cancel",
                "wake",
                "timer",
                "subscription_event",
                "spawn",
                "nothing",
            ]
        ),
        "thread_id": st.just(PLACE),
    },
    optional={
        "v": st.sampled_from([1, 2, "1", None]),
        "message_id": any_text | any_json,
        "metadata": any_json,
        "content": any_content,
        "on_busy": st.sampled_from(["interrupt", "queue"]) | any_json,
        "agent": any_text | any_json,
        "call_id": any_text | any_json,
        "is_error": any_json,
        "sources": any_json,
        "state_patch": any_json,
        "due_at": st.just("2026-01-01T00:00:00Z") | any_json,
    },
)
_json = (
    any_json | _message | st.builds(lambda message, there: {**message, "thread_id": there}, _message, _ids)
)
_rubbish = st.text(st.characters(min_codepoint=32, max_codepoint=0xD7FF), min_size=1, max_size=30)
any_body = _json.map(json.dumps) | _rubbish


@pytest.fixture(scope="module")
def local() -> Iterator[LocalTorpor]:
    """One stack for all; each body has a thread of its own."""
    with LocalTorpor(app=SPEC, batch_size=10) as stack:
        yield stack


def _said(outputs: list[dict[str, Any]]) -> list[str]:
    return [output["text"] for output in outputs if output.get("final")]


@pytest.mark.slow
@settings(max_examples=5, phases=[Phase.reuse, Phase.generate])
@given(st.lists(any_body, min_size=BODIES, max_size=BODIES))
def test_after_any_body_its_group_goes_on_and_what_was_refused_is_parked_with_a_reason_that_names_the_field(
    local: LocalTorpor, bodies: list[str]
) -> None:
    threads = {f"any{next(numbers)}": body for body in bodies}
    before = len(local.parked())
    for thread_id, body in threads.items():
        local.send(body.replace(PLACE, thread_id), thread_id=thread_id)
        local.send({"type": "user_message", "thread_id": thread_id, "content": "still here"})
    local.drain()
    for thread_id, body in threads.items():
        assert _said(local.outputs(thread_id))[-1:] == ["You said: still here"], body
    for parked in local.parked()[before:]:
        code, told = parked["reason"].split(": ", 1)
        assert code in get_args(ErrorCode)
        assert code != "invalid" or FIELD.match(told), told
