"""What becomes of a work message that its worker did not handle in all its tries (architecture.md, "Dead letters")."""

from typing import assert_never

from core.answers import recorded
from core.tools import error_result
from core.work import RecordedResult
from core.work_messages import ToolCallMessage, ToolCancelMessage, parse_work
from core.worker import LEASE_MARGIN_SECONDS, Action, Answering

GIVEN_UP = "the tool did not finish in any of its tries; its worker may have crashed"


async def answer_dead_work(body: str, attempt: str, answering: Answering) -> Action:
    """Answer a dead call with its recorded result, else with an error that is recorded now. A cancellation is dropped.

    Raises CallRunning while a lease still runs, and Refused for a body that is no work message.
    """
    message = parse_work(body)
    match message:
        case ToolCancelMessage():
            return "dropped"
        case ToolCallMessage():

            async def give_up() -> RecordedResult:
                return recorded(message, error_result(GIVEN_UP))

            return await answering.answer(message, attempt, LEASE_MARGIN_SECONDS, give_up)
        case _:
            assert_never(message)
