"""Which parts of a commit record may lie in S3, and how they are taken out and put back.

The item names the places by path, beside the record: a block that merely looks like a stored one, because a sender
wrote it so, is never resolved.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from core.blocks import StoredBlock
from core.errors import UnreadableRecord
from core.text import canonical_json
from infra.dynamodb.payloads import Payload, payload_for

LARGE_BYTES: Final = 64 * 1024
"""A block or snapshot whose JSON is longer always goes to S3."""
SMALLEST_MOVED_BYTES: Final = 4 * 1024
"""Moving smaller blocks would cost more requests than moving the whole record."""
GONE_NOTE: Final = "This content is no longer stored."

Record = dict[str, Any]
Path = tuple[str | int, ...]
WHOLE: Final[tuple[Path, ...]] = (("base", "snapshot"), ("checkpoint", "snapshot"), ("checkpoint", "carried"))
STATE: Final = "edits"
"""Of a change of an author's state: all of them are moved as one."""
OUTBOX_TEXTS: Final = ("body", "text")
"""A report's and a carried message's: moved as texts, where all else is moved as blocks."""


class Extraction:
    """A record from which large values are taken. Changes the record it is given."""

    def __init__(self, record: Record, bucket: str, owner: str) -> None:
        self.record = record
        self.payloads: list[Payload] = []
        self.paths: list[Path] = []
        self._bucket = bucket
        self._owner = owner
        texts = {path: canonical_json(_at(record, path)) for path in _movable(record)}
        self._left = dict(sorted(texts.items(), key=lambda pair: len(pair[1]), reverse=True))

    def take_over(self, limit_bytes: int) -> None:
        """Take every movable value whose JSON is longer than `limit_bytes`."""
        for path in [path for path, text in self._left.items() if len(text) > limit_bytes]:
            self._take(path)

    def take_largest(self, excess_bytes: int) -> None:
        """Take the largest movable values until the record is `excess_bytes` shorter, or none is worth moving."""
        for path, text in list(self._left.items()):
            if excess_bytes <= 0 or len(text) < SMALLEST_MOVED_BYTES:
                return
            excess_bytes -= len(text) - self._take(path)

    def _take(self, path: Path) -> int:
        payload = payload_for(self._bucket, self._owner, self._left.pop(path))
        stand_in = StoredBlock(s3=payload.uri, size_bytes=len(payload.text)).to_json()
        _put_at(self.record, path, stand_in)
        self.payloads.append(payload)
        self.paths.append(path)
        return len(canonical_json(stand_in))


def wanted_uris(record: Record, paths: list[Path]) -> list[str]:
    """The addresses of the values that were taken from `paths`."""
    try:
        return [_at(record, path)["s3"] for path in paths]
    except (LookupError, TypeError) as error:
        raise UnreadableRecord("a commit item names stored values that its record does not hold") from error


def put_back(record: Record, paths: list[Path], texts: Mapping[str, str | None]) -> None:
    """Undo an extraction, in place. A block or text that is gone is a note; what the fold needs must be there."""
    for path, uri in zip(paths, wanted_uris(record, paths), strict=True):
        text = texts[uri]
        if text is not None:
            _put_at(record, path, parsed(text))
        elif path in WHOLE or path[-1] == STATE:
            raise UnreadableRecord(f"{path[-1]}: what a thread's fold needs is gone from the payload bucket")
        elif path[-1] in OUTBOX_TEXTS:
            _put_at(record, path, GONE_NOTE)
        else:
            _at(record, path)["note"] = GONE_NOTE


def parsed(text: str | bytes) -> Any:
    """The JSON value of a stored text. Raises UnreadableRecord."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise UnreadableRecord("a stored text is not JSON") from error


def _movable(record: Record) -> Iterator[Path]:
    for index, entry in enumerate(record.get("entries", ())):
        for position in range(len(entry.get("content", ()))):
            yield ("entries", index, "content", position)
    for index, change in enumerate(record.get("changes", ())):
        if change["op"] == "deferred":
            for position in range(len(change["deferred"]["entry"]["content"])):
                yield ("changes", index, "deferred", "entry", "content", position)
        elif change["op"] == "state":
            yield ("changes", index, STATE)
    for index, message in enumerate(record.get("outbox", ())):
        yield from (("outbox", index, name) for name in OUTBOX_TEXTS if name in message)
        for position in range(len(message.get("event", {}).get("content", ()))):
            yield ("outbox", index, "event", "content", position)
    yield from (path for path in WHOLE if path[0] in record)


def _at(record: Record, path: Path) -> Any:
    value: Any = record
    for step in path:
        value = value[step]
    return value


def _put_at(record: Record, path: Path, value: Any) -> None:
    _at(record, path[:-1])[path[-1]] = value
