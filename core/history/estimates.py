"""About how many tokens messages take: an estimate by characters, for limits and for trimming.

Providers count otherwise, each in its own way; what a turn really took comes back as its usage.
"""

import math
from collections.abc import Sequence

from core.blocks import TextBlock
from core.request import CallPart, JsonObject, Part, ReasoningPart, RequestMessage, ResultPart
from core.text import canonical_json

CHARACTERS_PER_TOKEN = 4
MEDIA_TOKENS = 1_600
"""What an image or a page costs about."""


def estimate_tokens(messages: Sequence[RequestMessage], chars_per_token: float = CHARACTERS_PER_TOKEN) -> int:
    """About the tokens of `messages`, rounded up. Instructions and tools come on top."""
    return math.ceil(sum(map(message_characters, messages)) / chars_per_token)


def message_characters(message: RequestMessage) -> int:
    """The characters of a message's parts."""
    return sum(map(part_characters, message.parts))


def part_characters(part: Part | JsonObject) -> int:
    """The characters of a part; of an image or document, as many as its tokens are worth."""
    match part:
        case TextBlock(text=text):
            return len(text)
        case JsonObject(data=data):
            return len(canonical_json(data))
        case CallPart(name=name, args=args):
            return len(name) + len(canonical_json(args))
        case ResultPart(content=content):
            return sum(part_characters(inner) for inner in content)
        case ReasoningPart(text=text, redacted=redacted):
            return len(text) + len(redacted or "")
        case _:
            return MEDIA_TOKENS * CHARACTERS_PER_TOKEN
