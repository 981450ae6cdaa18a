"""A recap: the newest messages of a conversation, a line each, for a model that has to know what is talked about."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from core.blocks import TextBlock
from core.request import RequestMessage
from core.text import shorten

NO_PRIOR_TURNS = "(no prior turns)"
LINE_CHARACTERS = 1_000
"""Of one message; what is longer is cut."""


def recap(messages: Sequence[RequestMessage | Mapping[str, Any]], window: int = 6) -> str:
    """The last `window` messages that say something, as `role: content` lines, oldest first; else "(no prior turns)".

    A message is a `RequestMessage`, or a mapping with `role` and `content`: text, a list of blocks, or nothing. Each
    takes one line whatever it says, so that no message can pass for two.
    """
    lines = (line for message in reversed(messages) for line in _line(message))
    return "\n".join(reversed(list(islice(lines, max(0, window))))) or NO_PRIOR_TURNS


def one_line(text: str) -> str:
    """`text` without line breaks, cut to LINE_CHARACTERS."""
    return shorten(" ".join(text.split()), LINE_CHARACTERS)


def _line(message: RequestMessage | Mapping[str, Any]) -> Iterator[str]:
    role, content = (
        (message.role, message.parts)
        if isinstance(message, RequestMessage)
        else (message["role"], message["content"])
    )
    text = one_line(content if isinstance(content, str) else " ".join(map(_text, content or ())))
    if text:
        yield f"{one_line(role)}: {text}"


def _text(block: object) -> str:
    match block:
        case str(text) | TextBlock(text=text) | {"type": "text", "text": str(text)}:
            return text
        case _:
            return ""
