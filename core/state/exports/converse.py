"""Bedrock's Converse format: one field per block, bytes as bytes, results with a status."""

import re
from collections.abc import Sequence
from typing import Any, assert_never

from core.blocks import DocumentBlock, ImageBlock, TextBlock
from core.media import decode_base64, plain_media_type
from core.request import CallPart, JsonObject, Part, ReasoningPart, RequestMessage, ResultContent, ResultPart
from core.state.exports.media import inline, note
from core.state.exports.pairing import well_formed
from core.tools.content import plain_json

Block = dict[str, Any]

_IMAGE_FORMATS = {f"image/{name}": name for name in ("png", "jpeg", "gif", "webp")}
_OFFICE = "application/vnd.openxmlformats-officedocument"
_DOCUMENT_FORMATS = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "application/msword": "doc",
    f"{_OFFICE}.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    f"{_OFFICE}.spreadsheetml.sheet": "xlsx",
    "text/html": "html",
    "text/markdown": "md",
    "application/json": "txt",
}
_S3_URI = re.compile(r"s3://[a-z0-9][.a-z0-9-]{1,61}[a-z0-9]/.{1,900}")


def converse_messages(messages: Sequence[RequestMessage], opening: str = "") -> list[dict[str, Any]]:
    """As the `messages` of `converse`. `opening` is what the user said, should the assistant begin."""
    return [
        {"role": message.role, "content": _content(message)} for message in well_formed(messages, opening)
    ]


def _content(message: RequestMessage) -> list[Block]:
    """A document is taken only beside a text."""
    blocks = [_block(part) for part in message.parts]
    names = [block["document"]["name"] for block in blocks if "document" in block]
    if names and not any("text" in block for block in blocks):
        at = next(index for index, block in enumerate(blocks) if "document" in block)
        blocks.insert(at, {"text": f"Attached: {', '.join(names)}"})
    return blocks


def _block(part: Part) -> Block:
    match part:
        case ReasoningPart(redacted=str(redacted)):
            return {"reasoningContent": {"redactedContent": decode_base64(redacted)}}
        case ReasoningPart(text=text, signature=signature):
            return {"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}}
        case CallPart(call_id=call_id, name=name, args=args):
            return {"toolUse": {"toolUseId": call_id, "name": name, "input": plain_json(args)}}
        case ResultPart(call_id=call_id, content=content, is_error=is_error):
            shown = [_shown(one) for one in content]
            status = "error" if is_error else "success"
            return {"toolResult": {"toolUseId": call_id, "content": shown, "status": status}}
        case TextBlock() | ImageBlock() | DocumentBlock():
            return _shown(part)
        case _:
            assert_never(part)


def _shown(part: ResultContent) -> Block:
    match part:
        case TextBlock(text=text):
            return {"text": text}
        case JsonObject(data=data):
            return {"json": plain_json(data)}
        case ImageBlock():
            return _media(part, _IMAGE_FORMATS.get(plain_media_type(part.media_type)))
        case DocumentBlock():
            media_type = plain_media_type(part.media_type)
            other = "txt" if media_type.startswith("text/") else None
            return _media(part, _DOCUMENT_FORMATS.get(media_type, other))
        case _:
            assert_never(part)


def _media(block: ImageBlock | DocumentBlock, format_: str | None) -> Block:
    if format_ is None:
        return {"text": note(block, f"this type of {block.type} cannot be shown").text}
    name = {"name": block.name} if isinstance(block, DocumentBlock) else {}
    if block.s3 is not None and _S3_URI.fullmatch(block.s3):
        return {block.type: {"format": format_, **name, "source": {"s3Location": {"uri": block.s3}}}}
    found = inline(block)
    if isinstance(found, TextBlock):
        return {"text": found.text}
    return {block.type: {"format": format_, **name, "source": {"bytes": found[1]}}}
