"""Results and questions as bytes for the work table, and back: small ones stand in the record, large ones in parts.

Parts are items of the same table, named by the content's digest: the worker needs no other permission, and two
attempts that finish at once never mix theirs.
"""

import gzip
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from core.errors import UnreadableRecord
from core.text import canonical_json
from core.tools.asking import Answered
from core.work import RecordedResult

VERSION = 1
PART_BYTES = 350_000
"""Below DynamoDB's 400 KB an item, names and key included."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A value split into parts of at most PART_BYTES, in order; `digest` is over the whole."""

    digest: str
    parts: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class AskedCall:
    """What is kept of a call that asked a person."""

    call: str
    """The `tool_call` as JSON."""
    body: str
    """The `question` message as JSON."""


def encode(result: RecordedResult) -> Encoded:
    """The same result always gives the same bytes."""
    return _encoded(result.to_json())


def decode(data: bytes) -> RecordedResult:
    """The inverse of `encode`, over the joined parts. Raises UnreadableRecord."""
    try:
        return RecordedResult.model_validate(_fields(data))
    except ValidationError as error:
        raise _damaged(error) from error


def encode_asked(asked: AskedCall) -> Encoded:
    """As `encode`."""
    return _encoded({"call": asked.call, "body": asked.body})


def decode_asked(data: bytes) -> AskedCall:
    """The inverse of `encode_asked`, over the joined parts. Raises UnreadableRecord."""
    try:
        return AskedCall(**_fields(data))
    except TypeError as error:
        raise _damaged(error) from error


def encode_answer(question_id: str | None, answered: Answered) -> str:
    """A short text of an answer, and of the question it is for, as far as that was named."""
    fields = {"question": question_id, **answered.to_json()}
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False)


def decode_answer(text: str) -> tuple[str | None, Answered]:
    """The inverse of `encode_answer`. Raises UnreadableRecord."""
    try:
        fields = json.loads(text)
        return fields.pop("question"), Answered.model_validate(fields)
    except (ValueError, AttributeError, KeyError) as error:
        raise _damaged(error) from error


def _encoded(fields: dict[str, Any]) -> Encoded:
    data = gzip.compress(canonical_json({"v": VERSION, **fields}).encode("ascii"), mtime=0)
    parts = tuple(data[start : start + PART_BYTES] for start in range(0, len(data), PART_BYTES))
    return Encoded(hashlib.sha256(data).hexdigest(), parts)


def _fields(data: bytes) -> dict[str, Any]:
    try:
        fields: dict[str, Any] = json.loads(gzip.decompress(data))
        version = fields.pop("v")
    except (OSError, EOFError, ValueError, AttributeError, KeyError) as error:
        raise _damaged(error) from error
    if version == VERSION:
        return fields
    raise UnreadableRecord(
        f"a work record of version {version!r}, this code reads {VERSION}: deploy a newer one"
    )


def _damaged(error: Exception) -> UnreadableRecord:
    return UnreadableRecord(f"a work record is damaged: {type(error).__name__}")
