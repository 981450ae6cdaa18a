"""Sixty turns with a supervisor, each in a fresh process: two specialists share state, sources and a short memory, and
what only follows up goes where the conversation is.
"""

import re
from typing import Any

import pytest

from core.history import HistoryManager
from core.tools import ToolContext
from tests.support.fresh import FreshProcesses
from tests.support.inputs import THREAD
from tests.support.notebook import MAX_MESSAGES, look_up

pytestmark = pytest.mark.slow

TURNS = 60


def content(number: int) -> tuple[str, str]:
    """What the user says in a turn, and who is to answer. Every sixth only follows up."""
    if number % 6 == 0:
        return "and another, please", content(number - 1)[1]
    if number % 10 == 1:
        return f"look up w{number}", "words"
    return (f"keep w{number}", "words") if number % 4 < 2 else (f"add {number}", "numbers")


PLAYED = [content(number) for number in range(1, TURNS + 1)]
ROUTES = [route for _, route in PLAYED]
FOLLOW_UPS = [route for text, route in PLAYED if text.startswith("and another")]
LOOKED_UP = [text.removeprefix("look up ") for text, _ in PLAYED if text.startswith("look up")]


@pytest.fixture(scope="module")
def conversation() -> FreshProcesses:
    with FreshProcesses("tests.support.desk:app") as fresh:
        for number, (text, _) in enumerate(PLAYED, 1):
            fresh.take(type="user_message", message_id=f"m{number}", content=text)
            if text.startswith("look up"):
                _work(fresh)
    return fresh


def _work(fresh: FreshProcesses) -> None:
    """The call at the worker is run, and its result comes back."""
    call = fresh.calls[-1]
    context = ToolContext.for_test(call_id=call["call_id"])
    fresh.take(
        type="tool_result",
        message_id=f"r-{call['call_id']}",
        call_id=call["call_id"],
        content=look_up(**call["args"], ctx=context),
        sources=[source.to_json() for source in context.sources],
    )


def answers(conversation: FreshProcesses) -> list[dict[str, Any]]:
    return [output for output in conversation.outputs if output.get("final")]


def test_each_turn_was_a_process_of_its_own(conversation: FreshProcesses) -> None:
    assert len(set(conversation.pids)) == TURNS + len(LOOKED_UP)
    assert len(answers(conversation)) == TURNS


def test_every_turn_and_all_ten_follow_ups_went_to_the_right_specialist(conversation: FreshProcesses) -> None:
    assert len(FOLLOW_UPS) == 10
    assert set(FOLLOW_UPS) == {"words", "numbers"}
    assert [answer["route"] for answer in answers(conversation)] == ROUTES


def test_each_specialist_saw_what_the_other_left_in_the_state(conversation: FreshProcesses) -> None:
    words = total = 0
    for number, ((text, route), answer) in enumerate(zip(PLAYED, answers(conversation), strict=True), 1):
        if text.startswith("look up"):
            continue
        words, total = (words + 1, total) if route == "words" else (words, total + _added(text, number))
        seen = [int(found) for found in re.findall(r"\d+", answer["text"])]
        assert (seen[0], seen[2]) == ((words, total) if route == "words" else (total, words))
        assert seen[1] <= MAX_MESSAGES + 1


def _added(text: str, number: int) -> int:
    return 1000 if text.startswith("and") else number


def test_sources_were_cited_by_the_answers_they_led_to(conversation: FreshProcesses) -> None:
    cited = [answer["citations"] for answer in answers(conversation) if "citations" in answer]
    assert [sources[0]["url"] for sources in cited] == [f"https://example.org/{word}" for word in LOOKED_UP]


async def test_nothing_was_trimmed_from_the_log(conversation: FreshProcesses) -> None:
    manager = await HistoryManager.new_with_history(await conversation.store(), THREAD)
    said = [entry for entry in manager.history if entry.kind == "user"]
    assert len(said) == TURNS
    assert len(manager.history) == 4 * TURNS
