"""Images and documents in exports: what no provider would take becomes a text that says so."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from core.blocks import DocumentBlock, ImageBlock, TextBlock
from core.media import check_document, check_image, decode_base64, plain_media_type
from core.request import Part, RequestMessage, ResultContent, ResultPart
from core.text import clean_text

MOST_IMAGES = 20
MOST_DOCUMENTS = 5
MOST_MEDIA_CHARACTERS = 18_000_000
"""In one request, as base64: by the strictest provider. The newest are kept."""
PDF = "application/pdf"
_TEXTS = frozenset({"application/json", "application/xml", "application/yaml"})

Media = ImageBlock | DocumentBlock
P = TypeVar("P", Part, ResultContent)


def limit_media(messages: Sequence[RequestMessage]) -> tuple[RequestMessage, ...]:
    """All but the newest images and documents of a request replaced by text."""
    room = _Room()
    return tuple(_limited(message, room) for message in reversed(messages))[::-1]


class _Room:
    """What a request may still hold."""

    def __init__(self) -> None:
        self.left = {"image": MOST_IMAGES, "document": MOST_DOCUMENTS}
        self.characters = MOST_MEDIA_CHARACTERS

    def admit(self, part: P) -> P | TextBlock:
        if not isinstance(part, ImageBlock | DocumentBlock):
            return part
        self.left[part.type] -= 1
        self.characters -= len(part.data or "")
        fits = self.left[part.type] >= 0 and self.characters >= 0
        return part if fits else note(part, "too many; only the newest are shown")


def _limited(message: RequestMessage, room: _Room) -> RequestMessage:
    parts: list[Part] = []
    for part in reversed(message.parts):
        if isinstance(part, ResultPart):
            content = tuple(room.admit(one) for one in reversed(part.content))[::-1]
            parts.append(replace(part, content=content))
        else:
            parts.append(room.admit(part))
    return replace(message, parts=tuple(reversed(parts)))


def note(block: Media, problem: str) -> TextBlock:
    """The text in place of one that is not shown."""
    what = "image" if isinstance(block, ImageBlock) else f"document {block.name}"
    return TextBlock(text=f"[{what} not shown: {problem}]")


def inline(block: Media) -> tuple[str, bytes] | TextBlock:
    """Its plain media type and bytes, good for any provider that takes the type; else the text in its place."""
    media_type, data = plain_media_type(block.media_type), decode_base64(block.data or "")
    if block.s3 is not None:
        return note(block, "it cannot be read from S3 here")
    if data is None:
        return note(block, "its data is not base64")
    check = check_image if isinstance(block, ImageBlock) else check_document
    problem = check(media_type, data)
    return note(block, problem) if problem is not None else (media_type, data)


def text_of(media_type: str, data: bytes) -> str | None:
    """The text of a text document; None for other documents, and for blank ones."""
    if not (media_type in _TEXTS or media_type.startswith("text/")):
        return None
    text = clean_text(data.decode("utf-8", "replace"))
    return text if text.strip() else None
