"""Sixty turns, each in a fresh process: state, sources and short requests come through; the log keeps everything."""

import re

import pytest

from core.commit import commit_text
from core.history import HistoryManager, PermanentHistory
from core.tools import ToolContext
from tests.support.fresh import FreshProcesses
from tests.support.inputs import THREAD
from tests.support.notebook import MAX_MESSAGES, look_up

pytestmark = pytest.mark.slow

TURNS = 60


def content(number: int) -> str:
    """What the user says in a turn: every tenth one takes a worker, every other one the state."""
    if number % 10 == 0:
        return f"look up w{number}"
    return f"note w{number}" if number % 2 else f"say w{number}"


SAID = [content(number) for number in range(1, TURNS + 1)]
LOOKED_UP = [text.removeprefix("look up ") for text in SAID if text.startswith("look up")]
NOTED = [text.removeprefix("note ") for text in SAID if text.startswith("note")]


def work(fresh: FreshProcesses) -> None:
    """The newest call at the worker is run, and its result comes back."""
    call = fresh.calls[-1]
    context = ToolContext.for_test(call_id=call["call_id"])
    fresh.take(
        type="tool_result",
        message_id=f"r-{call['call_id']}",
        call_id=call["call_id"],
        content=look_up(**call["args"], ctx=context),
        sources=[source.to_json() for source in context.sources],
        state_patch=context.state_patch,
    )


@pytest.fixture(scope="module")
def conversation() -> FreshProcesses:
    with FreshProcesses("tests.support.notebook:app") as fresh:
        for number, text in enumerate(SAID, 1):
            fresh.take(type="user_message", message_id=f"m{number}", content=text)
            if text.startswith("look up"):
                work(fresh)
    return fresh


def answers(conversation: FreshProcesses) -> list[str]:
    return [output["text"] for output in conversation.outputs if output.get("final")]


def test_each_turn_was_a_process_of_its_own(conversation: FreshProcesses) -> None:
    assert len(set(conversation.pids)) == len(conversation.pids) == TURNS + len(LOOKED_UP)
    assert len(answers(conversation)) == TURNS


def test_tools_saw_the_state_of_the_turn_before_and_few_messages(conversation: FreshProcesses) -> None:
    report, given = "None", []
    for number, (text, answer) in enumerate(zip(SAID, answers(conversation), strict=True), 1):
        if text.startswith("note"):
            seen = re.fullmatch(r"step (\d+), given (\d+), 0 sources, (.+)", answer)
            assert seen is not None
            assert (int(seen[1]), seen[3]) == ((number + 1) // 2, report)
            given.append(int(seen[2]))
        elif text.startswith("look up"):
            report = f"on w{number}"
    assert (given[:2], max(given)) == ([1, 7], MAX_MESSAGES + 1)


async def test_the_state_is_what_sixty_turns_made_of_it(conversation: FreshProcesses) -> None:
    state = (await HistoryManager.new_with_history(await conversation.store(), THREAD)).state
    assert state.stored_state == {
        "query": "",
        "scratchpad": "".join(f"{step}: {word}\n" for step, word in enumerate(NOTED, 1)),
        "step": len(NOTED),
        "report": f"on {LOOKED_UP[-1]}",
        "words": NOTED,
    }


def test_sources_were_cited_by_the_answers_they_led_to_each_url_once(conversation: FreshProcesses) -> None:
    cited = [
        [source["url"] for source in output.get("citations", ())]
        for output in conversation.outputs
        if output.get("final")
    ]
    index = "https://example.org/index"
    assert [urls for urls in cited if urls] == [[f"https://example.org/{word}", index] for word in LOOKED_UP]


async def test_nothing_was_trimmed_from_the_log(conversation: FreshProcesses) -> None:
    manager = await HistoryManager.new_with_history(await conversation.store(), THREAD)
    assert len(manager.history) == 2 * TURNS + 2 * (len(NOTED) + len(LOOKED_UP))
    history = await PermanentHistory.from_thread(await conversation.store(), THREAD)
    said = [turn["content"] for turn in history.get_all_turns() if turn["role"] == "user"]
    assert said == SAID


def test_a_turn_writes_no_more_at_the_end_than_in_the_beginning(conversation: FreshProcesses) -> None:
    """Commits of turns that change the state, two digits everywhere."""
    sizes = [
        len(commit_text(commit)) for commit in conversation.commits if "scratchpad" in commit_text(commit)
    ]
    assert len(sizes) == len(NOTED)
    assert max(sizes[-10:]) <= max(sizes[6:16]) + 10
