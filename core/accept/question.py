"""Accepting a `question` of a running tool: its call stays live while a person is asked."""

from datetime import timedelta

from core.accept.effects import Ask, Effect, Setting
from core.errors import Refused
from core.messages import Input, QuestionMessage
from core.thread import Question, ThreadState
from core.tools.asking import choice_fault, url_fault


def accept(
    message: QuestionMessage, taken: Input, state: ThreadState, setting: Setting
) -> tuple[Effect, ...]:
    """No effects for a call that is not live, or about which somebody is asked already. Raises Refused (`invalid`).

    Nobody is asked for longer than the call itself has.
    """
    call = state.live_call(message.call_id)
    if state.closed or call is None or call.deadline_at is None or call.question is not None:
        return ()
    is_choice = message.kind == "choice"
    prompt = message.prompt if is_choice else message.url
    fault = choice_fault(prompt, message.choices, message.default) if is_choice else url_fault(prompt)
    if fault is not None:
        raise Refused("invalid", fault)
    wanted = message.expires_in_seconds
    left_seconds = (call.deadline_at - setting.now).total_seconds()
    seconds = left_seconds if wanted is None else min(wanted, left_seconds)
    question = Question(
        kind=message.kind,
        expires_at=setting.now + timedelta(seconds=seconds),
        asked_by=taken.message_id,
        prompt=prompt,
        choices=message.choices,
        default=message.default,
    )
    return (Ask(message.call_id, question),)
