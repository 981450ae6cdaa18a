"""Whatever is sent, streamed and returned: the thread goes on, over Converse's rules; nothing half-received runs."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.text import clean_json
from tests.support.inputs import user
from tests.wire import frames
from tests.wire.anything import Spoken, any_content, any_json, any_text, spoken
from tests.wire.asking import CLAUDE, NOVA, UNKNOWN
from tests.wire.steps import plays
from tests.wire.taking import talk

models = st.sampled_from([CLAUDE, NOVA, UNKNOWN])


@settings(max_examples=25)
@given(models, st.lists(any_content, min_size=1, max_size=3))
async def test_after_any_user_content_the_next_message_is_answered(
    model_id: str, contents: list[Any]
) -> None:
    async with talk(model_id) as (one, _):
        for number, content in enumerate(contents):
            await one.send(f"m{number}", content)
        await one.goes_on()


@settings(max_examples=30)
@given(models, st.lists(spoken, min_size=1, max_size=3), any_content)
async def test_after_any_stream_of_a_model_the_next_message_is_answered_and_nothing_half_received_ran(
    model_id: str, streams: list[Spoken], returned: Any
) -> None:
    async with talk(model_id) as (one, server):
        for number, said in enumerate(streams):
            one.ran.clear()
            server.play(said.stream)
            await one.run(user("go", f"m{number}"))
            assert len(one.ran) <= len(said.arguments)
            await one.answer_workers(returned)
        await one.goes_on()


@settings(max_examples=25)
@given(
    models, st.lists(any_json, min_size=1, max_size=3), any_json | st.binary() | st.sets(any_text, max_size=2)
)
async def test_arguments_and_results_of_every_json_type_and_of_none_reach_the_tool_and_the_model(
    model_id: str, values: list[Any], returned: Any
) -> None:
    async with talk(model_id, returned) as (one, server):
        for number, value in enumerate(values):
            call = frames.call(0, "take", json.dumps({"value": value}, allow_nan=True))
            server.play(plays(frames.message(call, reason="tool_use")))
            one.ran.clear()
            await one.run(user("go", f"m{number}"))
            assert one.ran == ([clean_json(value)] if _is_json(value) else [])
        await one.goes_on()


def _is_json(value: Any) -> bool:
    """JSON has no word for what is not finite: such arguments are no JSON, and the call is answered so."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("cut_at", range(0, 120, 7))
async def test_a_call_cut_anywhere_is_never_run(cut_at: int) -> None:
    async with talk(CLAUDE) as (one, server):
        whole = json.dumps({"value": "x" * 100})
        call = frames.call(0, "take", whole[:cut_at])
        server.play(plays(frames.message(call, reason="max_tokens")))
        await one.run(user("go"))
        assert one.ran == []
        await one.goes_on()
