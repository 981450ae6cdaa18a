"""A recorded result as bytes for the work table, and back: small ones stand in the record, large ones in parts.

Parts are items of the same table, named by the content's digest: the worker needs no other permission, and two
attempts that finish at once never mix theirs.
"""

import gzip
import hashlib
import json
from dataclasses import dataclass

from pydantic import ValidationError

from core.errors import UnreadableRecord
from core.text import canonical_json
from core.work import RecordedResult

VERSION = 1
PART_BYTES = 350_000
"""Below DynamoDB's 400 KB an item, names and key included."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A result split into parts of at most PART_BYTES, in order; `digest` is over the whole."""

    digest: str
    parts: tuple[bytes, ...]


def encode(result: RecordedResult) -> Encoded:
    """The same result always gives the same bytes."""
    text = canonical_json({"v": VERSION, **result.to_json()})
    data = gzip.compress(text.encode("ascii"), mtime=0)
    parts = tuple(data[start : start + PART_BYTES] for start in range(0, len(data), PART_BYTES))
    return Encoded(hashlib.sha256(data).hexdigest(), parts)


def decode(data: bytes) -> RecordedResult:
    """The inverse of `encode`, over the joined parts. Raises UnreadableRecord."""
    try:
        fields = json.loads(gzip.decompress(data))
        version = fields.pop("v")
        if version == VERSION:
            return RecordedResult.model_validate(fields)
    except (OSError, EOFError, ValueError, ValidationError, AttributeError, KeyError) as error:
        raise UnreadableRecord(f"a recorded result is damaged: {type(error).__name__}") from error
    raise UnreadableRecord(
        f"a recorded result of version {version!r}, this code reads {VERSION}: deploy a newer one"
    )
