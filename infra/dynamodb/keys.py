"""Keys and attribute names of the table, in one place: everything stored is found again by these (storage.md)."""

import math
from datetime import datetime
from typing import Any, Final

from core.messages import InputKey

Item = dict[str, dict[str, Any]]
"""An item or key in the client's form: `{"pk": {"S": "…"}, …}`."""

TIP: Final = "TIP"
META: Final = "META"
PARKED: Final = "PARKED"

NUMBER: Final = "n"
"""Of `TIP`, a marker, `SUM#` and `META`: the number of the commit it speaks of."""
FROM: Final = "from"
"""Of a commit and of `SUM#`: the number from which a reader who starts at the commit must load."""
DIGEST: Final = "digest"
EXPIRES_AT: Final = "expires_at"
KEPT: Final = "kept"
"""Of the commit that erased a log: another log begins behind it."""
ERASED: Final = "erased"
"""Of a commit: the last seq of the log before it that was erased."""
METADATA_PREFIX: Final = "m:"
"""Before each metadata key, so that none can pass for an attribute of ours."""

FIRST_READER: Final = "READER#"
LAST_READER: Final = "READER$"
"""Sorts right after every `READER#`."""
FIRST_MARKER: Final = "MSG#"
LAST_MARKER: Final = "MSG$"
COMMIT: Final = "C#"
SUMMARY: Final = "SUM#"
_THREAD: Final = "T#"
_LAST_NUMBER: Final = 10**12 - 1


def partition(thread_id: str) -> str:
    return f"{_THREAD}{thread_id}"


def thread_of(pk: str) -> str | None:
    """Whose partition it is; None if it is no thread's."""
    return pk.removeprefix(_THREAD) if pk.startswith(_THREAD) else None


def commit_sort_key(number: int) -> str:
    return f"{COMMIT}{number:012d}"


def commit_number(item: Item) -> int:
    """The number of a commit item."""
    return int(item["sk"]["S"].removeprefix(COMMIT))


NEWEST_COMMIT: Final = commit_sort_key(_LAST_NUMBER)


def marker_sort_key(key: InputKey) -> str:
    return f"{FIRST_MARKER}{key.type}#{key.message_id}"


def summary_sort_key(up_to_seq: int) -> str:
    return f"{SUMMARY}{up_to_seq:012d}"


def summary_seq(item: Item) -> int:
    """Up to which seq the base of a `SUM#` covers."""
    return int(item["sk"]["S"].removeprefix(SUMMARY))


def reader_sort_key(thread_id: str) -> str:
    return f"{FIRST_READER}{thread_id}"


def item_key(pk: str, sk: str) -> Item:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def number_of(item: Item | None) -> int:
    """The commit number an item speaks of; 0 if there is no item."""
    return int(item[NUMBER]["N"]) if item and NUMBER in item else 0


def epoch(instant: datetime) -> dict[str, str]:
    """An instant as the table expires by it: whole seconds, never too early."""
    return {"N": str(math.ceil(instant.timestamp()))}
