"""A commit as one item, and back. Pure: says which payloads must be in S3 first, moves nothing itself.

The record is JSON text, gzipped where that saves a write unit. The digest in the item is that of the whole commit,
wherever its parts lie, and is taken as it stands: a payload that is gone must not change what a commit is known by.
"""

import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.commit import Commit, commit_record, read_commit
from core.errors import UnreadableRecord
from core.ids import digest
from core.text import canonical_json
from core.upcasting import SCHEMA_VERSION, require_readable
from infra.aws_limits import ITEM_BYTES, item_bytes
from infra.dynamodb.keys import (
    DIGEST,
    ERASED,
    FROM,
    Item,
    commit_number,
    commit_sort_key,
    item_key,
    partition,
)
from infra.dynamodb.large import LARGE_BYTES, Extraction, Path, Record, parsed, put_back, wanted_uris
from infra.dynamodb.payloads import Payload, payload_for

FIRST_SEQ: Final = "seq"
_VERSION: Final = "v"
_TEXT: Final = "j"
_GZIPPED: Final = "z"
_BODY: Final = "s3"
"""Instead of text: where the whole record lies."""
_PATHS: Final = "large"
_WRITE_UNIT_BYTES: Final = 1024


@dataclass(frozen=True, slots=True)
class Packed:
    """What writing a commit takes: the payloads first, then the item."""

    item: Item
    payloads: list[Payload]
    size_bytes: int
    """Of the commit's whole JSON."""


@dataclass(frozen=True, slots=True)
class StoredCommit:
    """A commit as it was read, large values in place."""

    commit: Commit
    size_bytes: int


def owner_of(thread_id: str) -> str:
    """Under what all payloads lie that a thread ever had. The prefix keeps ids such as `..` from being taken as part of
    a path.
    """
    return f"t-{thread_id}"


def log_owner(thread_id: str, birth: str) -> str:
    """Under what the payloads of one log lie: what erases it cannot meet those of the next one of that id."""
    return f"{owner_of(thread_id)}/{birth}"


def pack(commit: Commit, bucket: str) -> Packed:
    """The item of a commit, never over 400 KB."""
    owner = log_owner(commit.thread_id, commit.birth)
    extraction = Extraction(commit_record(commit), bucket, owner)
    extraction.take_over(LARGE_BYTES)
    text = canonical_json(extraction.record)
    item = _item(commit, text, extraction.paths)
    if item_bytes(item) > ITEM_BYTES:
        extraction.take_largest(excess_bytes=len(text) - ITEM_BYTES * 9 // 10)
        text = canonical_json(extraction.record)
        item = _item(commit, text, extraction.paths)
    payloads = extraction.payloads
    size_bytes = len(text) + sum(len(payload.text) for payload in payloads)
    if item_bytes(item) > ITEM_BYTES:
        body = payload_for(bucket, owner, text)
        item = _head(commit, extraction.paths) | {_BODY: {"S": body.uri}}
        payloads = [*payloads, body]
    return Packed(item, payloads, size_bytes)


def body_uri(item: Item) -> str | None:
    """Where the whole record lies, if not in the item."""
    return str(item[_BODY]["S"]) if _BODY in item else None


class Unpacking:
    """A commit item on its way back to a commit, in two steps: the record, then the values that lie in S3."""

    def __init__(self, item: Item, bodies: Mapping[str, str | None]) -> None:
        """`bodies`: the whole record's text by address, for an item that has one. Raises UnreadableRecord."""
        check_version(item)
        self._digest = digest_of(item)
        text = _text_of(item, bodies)
        self._record: Record = parsed(text)
        self._paths: list[Path] = (
            [tuple(path) for path in parsed(item[_PATHS]["S"])] if _PATHS in item else []
        )
        self._size_bytes = len(text)
        self.uris = wanted_uris(self._record, self._paths)

    def commit(self, texts: Mapping[str, str | None]) -> StoredCommit:
        """The commit; `texts` by address for `uris`, None for a payload that is gone. Raises UnreadableRecord."""
        put_back(self._record, self._paths, texts)
        commit = read_commit(self._record)
        commit.__dict__["digest"] = self._digest  # seeds the cached property
        return StoredCommit(commit, self._size_bytes + sum(len(texts[uri] or "") for uri in self.uris))

    def content_digest(self) -> str:
        """The digest of what was read, to be asked after `commit`. Other than the item's, if anything was changed."""
        return digest(self._record)


def check_version(item: Item) -> None:
    """Raises UnreadableRecord for an item of a newer schema version, before anything else of it is looked at."""
    require_readable(int(item.get(_VERSION, {}).get("N", 0)))


def digest_of(item: Item) -> str:
    """What the commit in the item is known by; empty for an item that has none."""
    return str(item.get(DIGEST, {}).get("S", ""))


def from_of(item: Item) -> int:
    """The number from which a reader who starts at this commit must load."""
    check_version(item)
    return int(item[FROM]["N"])


def first_seq_of(item: Item) -> int:
    """The seq of the commit's first entry; of the next one, if there is none."""
    check_version(item)
    return int(item[FIRST_SEQ]["N"])


def erased_seq_of(item: Item) -> int | None:
    """The last seq of the log before this commit's that was erased; None if none was."""
    return int(item[ERASED]["N"]) if ERASED in item else None


def _head(commit: Commit, paths: list[Path]) -> Item:
    head = item_key(partition(commit.thread_id), commit_sort_key(commit.number)) | {
        _VERSION: {"N": str(SCHEMA_VERSION)},
        FROM: {"N": str(commit.from_number)},
        FIRST_SEQ: {"N": str(commit.first_seq)},
        DIGEST: {"S": commit.digest},
    }
    if commit.erased_seq is not None:
        head |= {ERASED: {"N": str(commit.erased_seq)}}
    return head | {_PATHS: {"S": canonical_json(paths)}} if paths else head


def _item(commit: Commit, text: str, paths: list[Path]) -> Item:
    head = _head(commit, paths)
    plain: Item = head | {_TEXT: {"S": text}}
    if _write_units(plain) == 1:
        return plain
    gzipped: Item = head | {_GZIPPED: {"B": gzip.compress(text.encode(), mtime=0)}}
    return gzipped if _write_units(gzipped) < _write_units(plain) else plain


def _write_units(item: Item) -> int:
    return -(-item_bytes(item) // _WRITE_UNIT_BYTES)


def _text_of(item: Item, bodies: Mapping[str, str | None]) -> str | bytes:
    where = f"commit {commit_number(item)} of {item['pk']['S']!r}"
    match item:
        case {"j": {"S": str(text)}}:
            return text
        case {"z": {"B": bytes(data)}}:
            try:
                return gzip.decompress(data)
            except (OSError, EOFError, zlib.error) as error:
                raise UnreadableRecord(f"{where} is damaged: {type(error).__name__}") from error
        case {"s3": {"S": str(uri)}} if (body := bodies.get(uri)) is not None:
            return body
        case _:
            raise UnreadableRecord(f"{where} has no record, or it is gone from the payload bucket")
