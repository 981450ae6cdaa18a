"""What stands beside a log in its partition, held against what the log says: markers, `SUM#`, `META`, the tip."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from core.text import canonical_json
from infra.dynamodb.keys import (
    DIGEST,
    FIRST_MARKER,
    FROM,
    META,
    METADATA_PREFIX,
    NUMBER,
    SUMMARY,
    Item,
    marker_sort_key,
    summary_sort_key,
)
from infra.operations.expected import Expected
from infra.operations.findings import RESTORE, SETTLE, Finding


class RowsCheck:
    """Takes the rows of one thread in any order. `written`: up to which commit settling must have written them."""

    def __init__(self, expected: Expected, first: int, last: int, written: int, now: datetime) -> None:
        self._expected = expected
        self._first = first
        self._last = last
        self._written = written
        self._now = now
        self._markers = {marker_sort_key(key): marked for key, marked in expected.markers.items()}
        self._summaries = {summary_sort_key(seq): told for seq, told in expected.summaries.items()}
        self._metadata = dict(expected.metadata)

    def take(self, row: Item) -> Iterator[Finding]:
        """What is wrong with a row. One of a commit newer than the last that was read is of no concern."""
        sort_key = row["sk"]["S"]
        if sort_key == META:
            yield from self._meta(row)
            return
        number = int(row.get(NUMBER, {"N": "0"})["N"])
        if not self._first <= number <= self._last or number not in self._expected.read:
            return
        if sort_key.startswith(FIRST_MARKER):
            yield from self._marker(sort_key, number, row)
        elif sort_key.startswith(SUMMARY):
            yield from self._summary(sort_key, number, row)

    def left(self) -> Iterator[Finding]:
        """What is wrong with rows that are not there, once all are taken."""
        for sort_key, marked in self._markers.items():
            if marked.number <= self._written and marked.expires_at > self._now:
                what = f"the marker of an input that commit {marked.number} took in is not there"
                yield Finding("once", sort_key, f"{what}: sent again it would be taken in again", RESTORE)
        for sort_key, (number, _) in self._summaries.items():
            if number <= self._written:
                what = f"the summary of commit {number} is not there: children and forks read more than they must"
                yield Finding("bounded", sort_key, what, RESTORE)
        for name, (_, number) in self._metadata.items():
            if number <= self._written:
                what = f"the key that commit {number} set is not there"
                yield Finding("metadata", f"META {name}", what, "send a message with this metadata again")
        for key, first, second in self._expected.again:
            what = f"commit {first} took it in, and commit {second} again"
            yield Finding("once", marker_sort_key(key), what, RESTORE)

    def _marker(self, sort_key: str, number: int, row: Item) -> Iterator[Finding]:
        marked = self._markers.pop(sort_key, None)
        if marked is None:
            what = f"it says that commit {number} took this input in, which did not"
            yield Finding(
                "once", sort_key, f"{what}: the input would be dropped", f"delete the row {sort_key}"
            )
        elif marked.number != number:
            what = f"it names commit {number}, commit {marked.number} took the input in"
            yield Finding("once", sort_key, what, RESTORE)
        elif _text(row, DIGEST) != marked.digest:
            what = "it remembers another body: the same message sent again would be refused"
            yield Finding("once", sort_key, what, RESTORE)

    def _summary(self, sort_key: str, number: int, row: Item) -> Iterator[Finding]:
        told = self._summaries.pop(sort_key, None)
        if told is None:
            what = f"commit {number} covers nothing up to there"
            yield Finding("safe spawn", sort_key, what, f"delete the row {sort_key}")
        elif told != (number, int(row.get(FROM, {"N": "0"})["N"])):
            what = f"it does not lead to commit {told[0]} and readers to {told[1]}"
            yield Finding("safe spawn", sort_key, what, RESTORE)

    def _meta(self, row: Item) -> Iterator[Finding]:
        newer = int(row.get(NUMBER, {"N": "0"})["N"]) > self._last
        for name, value in row.items():
            if not name.startswith(METADATA_PREFIX):
                continue
            key = name.removeprefix(METADATA_PREFIX)
            text, number = self._metadata.pop(key, (None, 0))
            if newer or number > self._written or text is None:
                continue
            if not _same(text, value):
                what = f"it is not the value that commit {number} set"
                yield Finding("metadata", f"META {key}", what, "send a message with this metadata again")


def tip_findings(
    tip: int, last: int, tip_before: int, excused: set[int], *, expired: bool
) -> Iterator[Finding]:
    """What is wrong with the tip. `tip_before`: as it was before the log was read to its commit `last`."""
    if tip == 0 and expired:
        what = "it has expired: the thread was not used for as long as threads are kept, and is being erased"
        yield Finding("retention", "TIP", what, "torpor send THREAD …, if it is to live on", note=True)
        return
    if tip_before > last:
        what = f"it is at commit {tip_before}, the log ends at {last}: no slice can load this thread"
        yield Finding("settle before next", "TIP", what, RESTORE)
    late = [number for number in range(tip + 2, last + 1) if number not in excused]
    if late:
        what = f"it is at commit {tip}, and commit {late[0]} was written though nothing of the ones before is carried"
        yield Finding("settle before next", "TIP", what, f"{SETTLE}, then look whether everything was sent")
    elif tip < last:
        what = f"commit {last} is not settled: a slice is at it, or was cut off"
        yield Finding("settle before next", "TIP", what, f"{SETTLE}, if it stays so", note=True)


def _text(row: Item, name: str) -> str:
    return str(row.get(name, {}).get("S", ""))


def _same(text: str, value: Mapping[str, Any]) -> bool:
    return canonical_json(text) == canonical_json(value.get("S"))
