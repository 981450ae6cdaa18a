"""Document names as the strictest provider takes them: in its alphabet, and each once in a request.

Apart from the renderer because it looks at a whole request. What is stored keeps the name it came with.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from core.blocks import DocumentBlock
from core.request import Part, RequestMessage, ResultPart

_OUTSIDE = re.compile(r"[^A-Za-z0-9 ()\[\]-]")
_SPACES = re.compile(r" {2,}")
_LONGEST = 190
"""Of 200 characters, the rest for a number."""


def name_documents(messages: Sequence[RequestMessage]) -> tuple[RequestMessage, ...]:
    """The messages with every document under a name of its own."""
    taken: set[str] = set()
    return tuple(
        replace(message, parts=tuple(_named(part, taken) for part in message.parts)) for message in messages
    )


def _named(part: Part, taken: set[str]) -> Part:
    match part:
        case DocumentBlock():
            return _document(part, taken)
        case ResultPart(content=content):
            shown = (_document(one, taken) if isinstance(one, DocumentBlock) else one for one in content)
            return replace(part, content=tuple(shown))
        case _:
            return part


def _document(block: DocumentBlock, taken: set[str]) -> DocumentBlock:
    clean = _SPACES.sub(" ", _OUTSIDE.sub("-", block.name))[:_LONGEST].strip() or "document"
    name, number = clean, 1
    while name in taken:
        number += 1
        name = f"{clean} ({number})"
    taken.add(name)
    return block.model_copy(update={"name": name})
