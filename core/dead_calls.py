"""What becomes of a work message that its worker did not handle in all its tries (architecture.md, "Dead letters")."""

from typing import assert_never

from core.answers import recorded
from core.tools import error_result
from core.tools.asking import Answered
from core.work import RecordedResult
from core.work_messages import ToolAnswerMessage, ToolCallMessage, ToolCancelMessage, parse_work
from core.worker import LEASE_MARGIN_SECONDS, Action, Answering

GIVEN_UP = "the tool did not finish in any of its tries; its worker may have crashed"


async def answer_dead_work(body: str, attempt: str, answering: Answering) -> Action:
    """Answer a dead call with its recorded result, else with an error that is recorded now. A cancellation is dropped.

    A call whose question stands is asking, not dead; one whose answer is dead is. Raises CallRunning while a lease
    still runs, and Refused for a body that is no work message.
    """
    message = parse_work(body)
    match message:
        case ToolCancelMessage():
            return "dropped"
        case ToolAnswerMessage():
            call = answering.answered(message)
            return "dropped" if call is None else await _give_up(call, attempt, answering)
        case ToolCallMessage():
            return await _give_up(message, attempt, answering)
        case _:
            assert_never(message)


async def _give_up(call: ToolCallMessage, attempt: str, answering: Answering) -> Action:
    async def give_up(answers: tuple[Answered, ...]) -> RecordedResult:  # noqa: ARG001 - it runs nothing
        return recorded(call, error_result(GIVEN_UP))

    return await answering.answer(call, attempt, LEASE_MARGIN_SECONDS, give_up)
