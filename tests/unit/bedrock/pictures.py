"""Small images of every type, made by hand: headers that say a size, and no picture behind them."""

import base64
import struct


def png(width: int = 2, height: int = 3, more: bytes = b"") -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack("!I4sII", 13, b"IHDR", width, height) + b"\x08\x02" + more


def gif(width: int = 2, height: int = 3) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\x00" * 6


def jpeg(width: int = 2, height: int = 3, *, frame: int = 0xC0) -> bytes:
    """With an APP0 segment, a fill byte and a comment before the frame."""
    app0 = b"\xff\xe0" + struct.pack("!H", 16) + b"JFIF\x00" + b"\x00" * 9
    comment = b"\xff\xff\xfe" + struct.pack("!H", 6) + b"\xff\xc0ab"
    frame_head = bytes([0xFF, frame]) + struct.pack("!HBHH", 17, 8, height, width) + b"\x03" * 10
    return b"\xff\xd8" + app0 + comment + frame_head + b"\xff\xd9"


def webp(kind: bytes, width: int = 2, height: int = 3) -> bytes:
    match kind:
        case b"VP8 ":
            body = b"\x00" * 3 + b"\x9d\x01\x2a" + struct.pack("<HH", width, height)
        case b"VP8L":
            body = b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14) + b"\x00" * 5
        case _:
            body = b"\x00" * 4 + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    chunk = kind + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
