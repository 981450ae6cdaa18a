"""Content at the edge: media that no model would take is replaced by a text that says so, before it is stored.

Never sent raw, never dropped silently (faults.md). Media in S3 is checked by the adapter that sends it.
"""

from collections.abc import Callable

from core.blocks import Block, Content, DocumentBlock, ImageBlock, TextBlock
from core.media import check_document, check_image, decode_base64


def storable(content: Content) -> Content:
    """The content with every unusable image and document replaced by a note. Idempotent."""
    return tuple(_storable(block) for block in content)


def _storable(block: Block) -> Block:
    match block:
        case ImageBlock(media_type=media_type, data=str(data)):
            problem = _problem(data, lambda found: check_image(media_type, found))
            return block if problem is None else TextBlock(text=f"[An image was left out: {problem}.]")
        case DocumentBlock(media_type=media_type, name=name, data=str(data)):
            problem = _problem(data, lambda found: check_document(media_type, found))
            return (
                block
                if problem is None
                else TextBlock(text=f"[The document {name!r} was left out: {problem}.]")
            )
        case _:
            return block


def _problem(data: str, check: Callable[[bytes], str | None]) -> str | None:
    found = decode_base64(data)
    return "its data is not base64" if found is None else check(found)
