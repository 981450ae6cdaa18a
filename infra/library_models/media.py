"""Images and documents as these models take them. What they do not becomes a text that says so, as for any model."""

from typing import Final

from pydantic_ai import BinaryContent

from core.blocks import DocumentBlock, ImageBlock
from core.media import check_document, check_image, decode_base64, plain_media_type
from core.text import clean_text

PDF: Final = "application/pdf"
_TEXTS: Final = frozenset({"application/json", "application/xml", "application/yaml"})


def shown_media(block: ImageBlock | DocumentBlock) -> list[str | BinaryContent]:
    """What is sent of it: never nothing. Documents of text go as text, which every model takes."""
    what = "image" if isinstance(block, ImageBlock) else f"document {block.name}"
    if block.s3 is not None:
        return [f"[{what} not shown: this model cannot read it from S3]"]
    data, media_type = decode_base64(block.data or ""), plain_media_type(block.media_type)
    if data is None:
        return [f"[{what} not shown: its data is not base64]"]
    if isinstance(block, ImageBlock):
        problem = check_image(media_type, data)
    else:
        problem = check_document(media_type, data)
        if problem is None and (media_type in _TEXTS or media_type.startswith("text/")):
            return [f"[{what}]\n{clean_text(data.decode('utf-8', 'replace'))}"]
        if problem is None and media_type != PDF:
            problem = "this type of document cannot be shown"
    if problem is not None:
        return [f"[{what} not shown: {problem}]"]
    return [f"[{what}]", BinaryContent(data, media_type=media_type)]
