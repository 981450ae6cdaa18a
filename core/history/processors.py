"""History processors: from the messages of a request to those the model is shown. What is stored stays as it is.

A processor is any callable from a list of messages to a list of messages, sync or async. The ones here are pure, and
none separates a call from its result. `core/history/chain.py` runs them.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import ParamSpec

from core.blocks import Content, JsonBlock
from core.checks import check_positive, check_positive_integer
from core.errors import DefinitionError
from core.history.estimates import CHARACTERS_PER_TOKEN, message_characters
from core.render import result_content
from core.request import CallPart, JsonObject, RequestMessage, ResultContent, ResultPart

Messages = Sequence[RequestMessage]
PureProcessor = Callable[[Messages], list[RequestMessage]]
Processor = Callable[..., Messages | Awaitable[Messages]]
"""Takes the messages and, if it has a parameter named `context`, a `HistoryContext`."""

P = ParamSpec("P")


def configurable(make: Callable[P, PureProcessor]) -> Callable[P, PureProcessor]:
    """Let a maker of processors also be one itself, with its defaults: as `@tool` it may go without brackets."""

    @wraps(make)
    def either(*args: P.args, **options: P.kwargs) -> PureProcessor:
        if args and isinstance(args[0], list | tuple):
            made = make(*args[1:], **options)  # type: ignore[arg-type]
            return made(args[0])  # type: ignore[return-value]
        made = make(*args, **options)
        made.__name__ = make.__name__
        return made

    return either


@configurable
def keep_recent_messages(max_messages: int = 100) -> PureProcessor:
    """Show at most `max_messages` (at least 2): the first, then the newest.

    Where the cut falls between a response and the results of its calls, the response comes along, as one more.
    Raises DefinitionError.
    """
    check_positive_integer("keep_recent_messages", "max_messages", max_messages)
    if max_messages < 2:
        raise DefinitionError(
            "keep_recent_messages: max_messages must be at least 2, the first and the newest"
        )

    def keep(messages: Messages) -> list[RequestMessage]:
        if len(messages) <= max_messages:
            return list(messages)
        start = len(messages) - (max_messages - 1)
        if _results(messages[start]):
            start -= 1
        return [*messages[:1], *messages[max(1, start) :]]

    return keep


@configurable
def trim_to_tokens(max_tokens: int = 80_000, chars_per_token: float = CHARACTERS_PER_TOKEN) -> PureProcessor:
    """Show about `max_tokens` at most: the first message stays, then the oldest go, calls and results together.

    Two messages always stay, and the newest ones with the calls they answer, however long. Raises DefinitionError.
    """
    check_positive_integer("trim_to_tokens", "max_tokens", max_tokens)
    check_positive("trim_to_tokens", "chars_per_token", chars_per_token)

    def trim(messages: Messages) -> list[RequestMessage]:
        groups = call_groups(messages)
        sizes = [sum(map(message_characters, group)) for group in groups]
        left, dropped = sum(sizes), 0
        while left > max_tokens * chars_per_token and dropped < len(groups) - 2:
            dropped += 1
            left -= sizes[dropped]
        return [message for group in (*groups[:1], *groups[1 + dropped :]) for message in group]

    return trim


@configurable
def shrink_results(max_characters: int = 2_000, keep_newest: int = 1) -> PureProcessor:
    """Show at most `max_characters` of each result, but those in the newest `keep_newest` messages.

    What is cut is said in its place. Raises DefinitionError.
    """
    check_positive_integer("shrink_results", "max_characters", max_characters)
    if keep_newest != 0:
        check_positive_integer("shrink_results", "keep_newest", keep_newest)

    def shrink(messages: Messages) -> list[RequestMessage]:
        border = len(messages) - keep_newest
        return [
            _shrunk(message, max_characters) if index < border else message
            for index, message in enumerate(messages)
        ]

    return shrink


def only_user_messages(messages: Messages) -> list[RequestMessage]:
    """Show only what came from the user: no answers, no calls, no results."""
    users = (message for message in messages if message.role == "user")
    without = (
        replace(user, parts=tuple(part for part in user.parts if not isinstance(part, ResultPart)))
        for user in users
    )
    return [message for message in without if message.parts]


def call_groups(messages: Messages) -> list[list[RequestMessage]]:
    """The messages, each with calls together with the next one, which answers them."""
    groups: list[list[RequestMessage]] = []
    for message in messages:
        if groups and len(groups[-1]) == 1 and _results(message) and _calls(groups[-1][0]):
            groups[-1].append(message)
        else:
            groups.append([message])
    return groups


def _calls(message: RequestMessage) -> bool:
    return any(isinstance(part, CallPart) for part in message.parts)


def _results(message: RequestMessage) -> bool:
    return any(isinstance(part, ResultPart) for part in message.parts)


def _shrunk(message: RequestMessage, max_characters: int) -> RequestMessage:
    parts = (
        replace(part, content=result_content(_as_blocks(part.content), max_characters))
        if isinstance(part, ResultPart)
        else part
        for part in message.parts
    )
    return replace(message, parts=tuple(parts))


def _as_blocks(content: tuple[ResultContent, ...]) -> Content:
    return tuple(JsonBlock(data=part.data) if isinstance(part, JsonObject) else part for part in content)
