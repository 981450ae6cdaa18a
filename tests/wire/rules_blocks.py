"""Converse's rules for one content block."""

import base64
import binascii
import re
import struct
from collections.abc import Iterator
from typing import Any

Block = dict[str, Any]
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_DOCUMENT_NAME = re.compile(r"(?!.*  )[A-Za-z0-9 ()\[\]-]{1,200}")
_BY = {
    "text": ("user", "assistant"),
    "image": ("user",),
    "document": ("user",),
    "toolResult": ("user",),
    "toolUse": ("assistant",),
    "reasoningContent": ("assistant",),
    "cachePoint": ("user", "assistant"),
}
_MAGIC = {"png": b"\x89PNG", "jpeg": b"\xff\xd8", "gif": b"GIF8", "webp": b"RIFF"}
_DOCUMENTS = {"pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"}


def kind_of(block: Block) -> str:
    """Which block it is: the one field it should have."""
    return "+".join(sorted(block))


def block_faults(block: Block, role: str, where: str) -> Iterator[str]:
    """What is wrong with a block of a message."""
    if len(block) != 1 or kind_of(block) not in _BY:
        yield f"{where}: no known block: {sorted(block)}"
        return
    kind = kind_of(block)
    if role not in _BY[kind]:
        yield f"{where}: {kind} in a message of the {role}"
    match kind, block[kind]:
        case "text", text:
            yield from _text_faults(text, where)
        case "image", image:
            yield from _image_faults(image, where)
        case "document", document:
            yield from _document_faults(document, where)
        case "toolUse", use:
            yield from _use_faults(use, where)
        case "reasoningContent", reasoning:
            yield from _reasoning_faults(reasoning, where)


def result_faults(result: Block, where: str) -> Iterator[str]:
    """What is wrong with a tool result's content."""
    if not _NAME.fullmatch(result["toolUseId"]) or result.get("status") not in (None, "success", "error"):
        yield f"{where}: a result's id or status"
    if not result["content"]:
        yield f"{where}: a result without content"
    for one in result["content"]:
        match one:
            case {"text": text}:
                yield from _text_faults(text, where)
            case {"json": data}:
                if not isinstance(data, dict):
                    yield f"{where}: json that is no object"
            case {"image": image}:
                yield from _image_faults(image, where)
            case {"document": document}:
                yield from _document_faults(document, where)
            case _:
                yield f"{where}: no known result content: {sorted(one)}"


def _text_faults(text: Any, where: str) -> Iterator[str]:
    if not (isinstance(text, str) and text.strip()):
        yield f"{where}: blank text"


def _use_faults(use: Block, where: str) -> Iterator[str]:
    if not _NAME.fullmatch(use["toolUseId"]) or not _NAME.fullmatch(use["name"]):
        yield f"{where}: a call's id or name"
    if not isinstance(use["input"], dict):
        yield f"{where}: input that is no object"


def _reasoning_faults(reasoning: Block, where: str) -> Iterator[str]:
    match reasoning:
        case {"reasoningText": {"text": str(), "signature": str(signature)}} if signature:
            pass
        case {"redactedContent": data} if _decoded(data):
            pass
        case _:
            yield f"{where}: reasoning neither signed nor redacted"


def _image_faults(image: Block, where: str) -> Iterator[str]:
    yield from _source_faults(image, 3_750_000, where)
    if image["format"] not in _MAGIC:
        yield f"{where}: image format {image['format']}"
    elif "bytes" in image["source"]:
        data = _decoded(image["source"]["bytes"])
        if not data.startswith(_MAGIC[image["format"]]):
            yield f"{where}: not the {image['format']} it says it is"
        elif image["format"] == "png" and not all(
            0 < side <= 8000 for side in struct.unpack("!II", data[16:24])
        ):
            yield f"{where}: too many pixels"


def _document_faults(document: Block, where: str) -> Iterator[str]:
    yield from _source_faults(document, 4_500_000, where)
    name = document["name"]
    if document["format"] not in _DOCUMENTS or not _DOCUMENT_NAME.fullmatch(name) or not name.strip():
        yield f"{where}: a document's format or name"


def _source_faults(media: Block, most_bytes: int, where: str) -> Iterator[str]:
    match media["source"]:
        case {"bytes": str(data)}:
            if not 0 < len(_decoded(data)) <= most_bytes:
                yield f"{where}: empty, no base64, or too large"
        case {"s3Location": {"uri": str(uri)}} if uri.startswith("s3://"):
            pass
        case _:
            yield f"{where}: no source"


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        return b""
