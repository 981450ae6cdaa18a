"""Accepting an `answer` of a person: the first one closes the question, every other changes nothing."""

from datetime import timedelta

from core.accept.effects import Approve, Deny, Effect, Setting, TellWorker, require_known, require_open
from core.errors import Refused
from core.messages import Answer
from core.thread import LiveCall, Question, ThreadState
from core.tools import BadArguments, validate_arguments


def accept(message: Answer, state: ThreadState, setting: Setting) -> tuple[Effect, ...]:
    """No effects where no question is open. Raises Refused: closed, unknown, or an answer that does not fit.

    Then the question stays open: a person may answer again.
    """
    require_open(state)
    require_known(state)
    call = state.live_call(message.call_id)
    if call is None or call.question is None:
        return ()
    match call.question.kind:
        case "approval":
            return (_approval(message, call, setting),)
        case "choice":
            return (_choice(message, call.question),)
        case "auth":
            choice = "approved" if _approved(message) else "refused"
            return (TellWorker(message.call_id, choice, message.comment),)


def require_fitting(message: Answer, question: Question) -> None:
    """Raises Refused if it answers another kind of question, or chooses what is no choice. Arguments need the app."""
    match question.kind:
        case "choice":
            _choice(message, question)
        case "approval" | "auth":
            _approved(message)


def _approved(message: Answer) -> bool:
    if message.approved is None:
        raise Refused("invalid", "approved: must be true or false")
    return message.approved


def _approval(message: Answer, call: LiveCall, setting: Setting) -> Effect:
    if not _approved(message):
        comment = f" They say: {message.comment}" if message.comment.strip() else ""
        return Deny(call.call_id, f"{call.name}: not run, a person refused it.{comment}", "refused")
    tool = setting.agent.toolbox.get(call.name)
    if tool is None:
        return Deny(call.call_id, f"{call.name}: approved, but there is no such tool any more.", "error")
    if message.args is not None:
        try:
            validate_arguments(tool, message.args)
        except BadArguments as error:
            raise Refused("invalid", f"args: {error}") from error
    deadline_at = setting.now + timedelta(seconds=tool.deadline_seconds)
    return Approve(call.call_id, tool, message.args, deadline_at)


def _choice(message: Answer, question: Question) -> Effect:
    if message.choice not in question.choices:
        raise Refused("invalid", f"choice: must be one of {', '.join(question.choices)}")
    return TellWorker(message.call_id, message.choice, message.comment)
