"""Event-stream frames as AWS sends them (`application/vnd.amazon.eventstream`): lengths, headers, payload, two CRCs.

Written from the format's description and not from the client's decoder, so that each checks the other.
"""

import base64
import json
import struct
from binascii import crc32
from collections.abc import Iterable, Sequence
from typing import Any

_STRING = 7
USAGE = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}


def frame(headers: dict[str, str], payload: bytes) -> bytes:
    """One frame."""
    return framed(b"".join(_header(name, value) for name, value in headers.items()), payload)


def framed(head: bytes, payload: bytes) -> bytes:
    """A frame of any bytes, under checksums that hold."""
    prelude = struct.pack("!II", 4 + 4 + 4 + len(head) + len(payload) + 4, len(head))
    prelude += struct.pack("!I", crc32(prelude))
    body = prelude + head + payload
    return body + struct.pack("!I", crc32(body))


def _header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return struct.pack("!B", len(key)) + key + struct.pack("!BH", _STRING, len(text)) + text


def event(kind: str, payload: Any) -> bytes:
    """An ordinary event. AWS pads payloads with a field `p`, so do we."""
    padded = {**payload, "p": "abcdefghijklmno"} if isinstance(payload, dict) else payload
    headers = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    return frame(headers, json.dumps(padded).encode())


def exception(kind: str, message: str) -> bytes:
    """A modelled error inside the stream, such as `throttlingException`."""
    headers = {":exception-type": kind, ":content-type": "application/json", ":message-type": "exception"}
    return frame(headers, json.dumps({"message": message}).encode())


def error(code: str, message: str) -> bytes:
    """An error that the model of the service does not know."""
    return frame({":error-code": code, ":error-message": message, ":message-type": "error"}, b"")


def start() -> bytes:
    return event("messageStart", {"role": "assistant"})


def delta(index: int, piece: dict[str, Any]) -> bytes:
    return event("contentBlockDelta", {"contentBlockIndex": index, "delta": piece})


def block_start(index: int, began: dict[str, Any]) -> bytes:
    return event("contentBlockStart", {"contentBlockIndex": index, "start": began})


def block_stop(index: int) -> bytes:
    return event("contentBlockStop", {"contentBlockIndex": index})


def text(index: int, *pieces: str) -> list[bytes]:
    """A text block. It has no start event."""
    return [*(delta(index, {"text": piece}) for piece in pieces), block_stop(index)]


def reasoning(
    index: int, *pieces: str, signature: Sequence[str] = (), redacted: Iterable[bytes] = ()
) -> list[bytes]:
    """A reasoning block: text, then its signature, or redacted bytes."""
    contents = [
        *({"text": piece} for piece in pieces),
        *({"signature": piece} for piece in signature),
        *({"redactedContent": base64.b64encode(piece).decode()} for piece in redacted),
    ]
    return [*(delta(index, {"reasoningContent": content}) for content in contents), block_stop(index)]


def call(index: int, name: str, *pieces: str, use_id: str = "tooluse_0") -> list[bytes]:
    """A call whose arguments come in these pieces."""
    deltas = [delta(index, {"toolUse": {"input": piece}}) for piece in pieces]
    return [block_start(index, {"toolUse": {"toolUseId": use_id, "name": name}}), *deltas, block_stop(index)]


def stop(reason: str) -> bytes:
    return event("messageStop", {"stopReason": reason})


def metadata(**usage: int) -> bytes:
    return event("metadata", {"usage": {**USAGE, **usage}, "metrics": {"latencyMs": 7}})


def message(*blocks: Sequence[bytes], reason: str = "end_turn", **usage: int) -> list[bytes]:
    """A whole reply of these blocks."""
    return [start(), *(part for block in blocks for part in block), stop(reason), metadata(**usage)]


def says(*pieces: str, reason: str = "end_turn") -> list[bytes]:
    """A whole reply of one text."""
    return message(text(0, *pieces), reason=reason)
