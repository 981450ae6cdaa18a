"""Accepting a `question` of a running tool: its call stays live while a person is asked."""

from datetime import timedelta
from urllib.parse import urlsplit

from core.accept.effects import Ask, Effect, Setting
from core.errors import Refused
from core.messages import QuestionMessage
from core.thread import Question, ThreadState


def accept(message: QuestionMessage, state: ThreadState, setting: Setting) -> tuple[Effect, ...]:
    """No effects for a call that is not live, or about which somebody is asked already. Raises Refused (`invalid`).

    Nobody is asked for longer than the call itself has.
    """
    call = state.live_call(message.call_id)
    if state.closed or call is None or call.deadline_at is None or call.question is not None:
        return ()
    prompt = _choice(message) if message.kind == "choice" else _url(message)
    wanted = message.expires_in_seconds
    left_seconds = (call.deadline_at - setting.now).total_seconds()
    seconds = left_seconds if wanted is None else min(wanted, left_seconds)
    question = Question(
        kind=message.kind,
        expires_at=setting.now + timedelta(seconds=seconds),
        prompt=prompt,
        choices=message.choices,
        default=message.default,
    )
    return (Ask(message.call_id, question),)


def _choice(message: QuestionMessage) -> str:
    if not message.prompt.strip() or not message.choices:
        raise Refused("invalid", "prompt, choices: a choice needs both")
    if len(set(message.choices)) != len(message.choices):
        raise Refused("invalid", "choices: each must be another")
    if message.default is not None and message.default not in message.choices:
        raise Refused("invalid", "default: must be one of the choices")
    return message.prompt


def _url(message: QuestionMessage) -> str:
    """People are sent there: nothing but a web page."""
    try:
        parts = urlsplit(message.url)
    except ValueError as error:
        raise Refused("invalid", "url: is none") from error
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise Refused("invalid", "url: must begin with https:// or http:// and name a host")
    return message.url
