"""Images and documents as Converse takes them. What this model, or any, would refuse becomes a text that says so.

Apart from the rest of the translation because one refused image would make every later request of its thread fail.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from core.blocks import DocumentBlock, ImageBlock
from core.media import check_document, check_image, decode_base64, plain_media_type
from infra.bedrock.capabilities import Capabilities

Block = dict[str, Any]

MOST_IMAGES: Final = 20
MOST_DOCUMENTS: Final = 5
MOST_MEDIA_BYTES: Final = 14_000_000
"""In one request. The newest are kept. As base64 it stays below the 20 MB that a request may have, with its text."""

_IMAGE_FORMATS: Final = {f"image/{name}": name for name in ("png", "jpeg", "gif", "webp")}
_OFFICE: Final = "application/vnd.openxmlformats-officedocument"
_DOCUMENT_FORMATS: Final = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "application/msword": "doc",
    f"{_OFFICE}.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    f"{_OFFICE}.spreadsheetml.sheet": "xlsx",
    "text/html": "html",
    "text/markdown": "md",
    "text/plain": "txt",
    "application/json": "txt",
}
_S3_URI: Final = re.compile(r"s3://[a-z0-9][.a-z0-9-]{1,61}[a-z0-9]/.{1,900}")


def image(block: ImageBlock, capabilities: Capabilities) -> Block:
    """An image block, or a text block in its place."""
    media_type = plain_media_type(block.media_type)
    source, problem = _source(block, capabilities)
    if not capabilities.images:
        problem = "this model takes no images"
    elif media_type not in _IMAGE_FORMATS:
        problem = "this type of image cannot be shown"
    elif "bytes" in source:
        problem = check_image(media_type, source["bytes"])
    if problem is not None:
        return _note("image", problem)
    return {"image": {"format": _IMAGE_FORMATS[media_type], "source": source}}


def document(block: DocumentBlock, capabilities: Capabilities) -> Block:
    """A document block, or a text block in its place."""
    media_type = plain_media_type(block.media_type)
    format_ = _DOCUMENT_FORMATS.get(media_type, "txt" if media_type.startswith("text/") else None)
    source, problem = _source(block, capabilities)
    if not capabilities.documents:
        problem = "this model takes no documents"
    elif format_ is None:
        problem = "this type of document cannot be shown"
    elif "bytes" in source:
        problem = check_document(media_type, source["bytes"])
    if problem is not None:
        return _note(f"document {block.name}", problem)
    return {"document": {"format": format_, "name": block.name, "source": source}}


def without_media(block: ImageBlock | DocumentBlock) -> Block:
    """The text in place of media inside a result, for a model that takes none there."""
    what = "image" if isinstance(block, ImageBlock) else f"document {block.name}"
    return _note(what, f"this model takes no {block.type}s from tools")


def _source(
    block: ImageBlock | DocumentBlock, capabilities: Capabilities
) -> tuple[dict[str, Any], str | None]:
    """The source, and what is wrong with it."""
    if block.s3 is not None:
        if not capabilities.s3:
            return {}, "this model cannot read it from S3"
        if not _S3_URI.fullmatch(block.s3):
            return {}, "its S3 address is not s3://bucket/key"
        return {"s3Location": {"uri": block.s3}}, None
    data = decode_base64(block.data or "")
    return ({}, "its data is not base64") if data is None else ({"bytes": data}, None)


def _note(what: str, problem: str) -> Block:
    return {"text": f"[{what} not shown: {problem}]"}


def limit_media(messages: Sequence[dict[str, Any]]) -> None:
    """Replace all but the newest images and documents of a request by text, in place."""
    left, bytes_left = {"image": MOST_IMAGES, "document": MOST_DOCUMENTS}, MOST_MEDIA_BYTES
    for content in _contents_newest_first(messages):
        for index in reversed(range(len(content))):
            for kind in left.keys() & content[index].keys():
                left[kind] -= 1
                bytes_left -= len(content[index][kind]["source"].get("bytes", b""))
                if left[kind] < 0 or bytes_left < 0:
                    content[index] = _note(kind, "too many; only the newest are shown")


def _contents_newest_first(messages: Sequence[dict[str, Any]]) -> Iterator[list[Block]]:
    for message in reversed(messages):
        yield message["content"]
        for block in reversed(message["content"]):
            if "toolResult" in block:
                yield block["toolResult"]["content"]


def accompany_documents(messages: Sequence[dict[str, Any]]) -> None:
    """Converse takes a document only beside a text: put one before the documents of a message without, in place."""
    for message in messages:
        names = [block["document"]["name"] for block in message["content"] if "document" in block]
        if names and not any("text" in block for block in message["content"]):
            at = next(index for index, block in enumerate(message["content"]) if "document" in block)
            message["content"].insert(at, {"text": f"Attached: {', '.join(names)}"})
