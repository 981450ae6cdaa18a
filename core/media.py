"""Images and documents before a model sees them: what kind the bytes are, how large, and what is wrong with them.

Pure functions over the bytes, shared by whoever accepts content and by the adapters that send it. The limits are the
strictest provider's (Bedrock Converse). No image is decoded: its header says all that is asked.
"""

import base64
import binascii
from dataclasses import dataclass

IMAGE_BYTES = 3_750_000
"""Of one image, decoded."""
IMAGE_SIDE_PIXELS = 8_000
DOCUMENT_BYTES = 4_500_000
"""Of one document, decoded."""

IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Start-of-frame markers: the segments that hold height and width."""
_JPEG_ALONE = frozenset({0x01, *range(0xD0, 0xD8)})
"""Markers without a segment."""
_JPEG_ENDS = frozenset({0xD9, 0xDA})


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """What an image's first bytes say of it."""

    media_type: str
    width_pixels: int
    height_pixels: int


def decode_base64(text: str) -> bytes | None:
    """The bytes; None for what is not base64. Line breaks and spaces inside are allowed, as MIME has them."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def plain_media_type(media_type: str) -> str:
    """In lower case and without parameters: `text/plain` of `Text/Plain; charset=utf-8`."""
    plain = media_type.partition(";")[0].strip().lower()
    return "image/jpeg" if plain == "image/jpg" else plain


def check_image(media_type: str, data: bytes) -> str | None:
    """What is wrong with an image, in words for a person or a model; None if a model that takes images takes it."""
    declared = plain_media_type(media_type)
    if declared not in IMAGE_TYPES:
        return f"media type {declared or 'none'} is not PNG, JPEG, GIF or WebP"
    if len(data) > IMAGE_BYTES:
        return f"{len(data)} bytes, more than {IMAGE_BYTES}"
    header = read_image(data)
    if header is None:
        return "the data is not a PNG, JPEG, GIF or WebP image"
    if header.media_type != declared:
        return f"the data is {header.media_type}, not {declared}"
    width, height = header.width_pixels, header.height_pixels
    if not (0 < width <= IMAGE_SIDE_PIXELS and 0 < height <= IMAGE_SIDE_PIXELS):
        return f"{width} × {height} pixels, outside 1 to {IMAGE_SIDE_PIXELS} on a side"
    return None


def check_document(media_type: str, data: bytes) -> str | None:
    """What is wrong with a document, in words; None if a model that takes documents of this type takes it."""
    if not data:
        return "no data"
    if len(data) > DOCUMENT_BYTES:
        return f"{len(data)} bytes, more than {DOCUMENT_BYTES}"
    if plain_media_type(media_type) == "application/pdf" and b"%PDF-" not in data[:1024]:
        return "the data is not a PDF"
    return None


def read_image(data: bytes) -> ImageHeader | None:
    """Type and size of an image; None for anything else, and for a header that is cut off."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return _header("image/png", data, 16, 4, big=True) if data[12:16] == b"IHDR" else None
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return _header("image/gif", data, 6, 2, big=False)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _read_webp(data)
    if data.startswith(b"\xff\xd8\xff"):
        return _read_jpeg(data)
    return None


def _header(media_type: str, data: bytes, start: int, size: int, *, big: bool) -> ImageHeader | None:
    """Width, then height, each of `size` bytes."""
    if len(data) < start + 2 * size:
        return None
    width, height = data[start : start + size], data[start + size : start + 2 * size]
    return ImageHeader(media_type, _number(width, big), _number(height, big))


def _number(data: bytes, big: bool) -> int:
    return int.from_bytes(data, "big" if big else "little")


def _read_webp(data: bytes) -> ImageHeader | None:
    """Its three kinds: lossy, lossless, extended. Sizes are little-endian, of 14, 14 and 24 bits."""
    if len(data) < 30:
        return None
    match data[12:16]:
        case b"VP8 ":
            width, height = _number(data[26:28], False) & 0x3FFF, _number(data[28:30], False) & 0x3FFF
        case b"VP8L":
            bits = _number(data[21:25], False)
            width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            width, height = _number(data[24:27], False) + 1, _number(data[27:30], False) + 1
        case _:
            return None
    return ImageHeader("image/webp", width, height)


def _read_jpeg(data: bytes) -> ImageHeader | None:
    """Walks the segments to the one that starts the frame. There height comes before width."""
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:  # fill
            at += 1
        elif marker in _JPEG_ALONE:
            at += 2
        elif marker in _JPEG_ENDS:
            return None
        elif marker in _JPEG_SIZES:
            size = data[at + 5 : at + 9]
            width, height = _number(size[2:], True), _number(size[:2], True)
            return ImageHeader("image/jpeg", width, height) if len(size) == 4 else None
        else:
            at += 2 + max(2, _number(data[at + 2 : at + 4], True))
    return None
