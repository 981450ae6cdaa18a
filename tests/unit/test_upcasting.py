"""Upcasting: each version's step in turn, and nothing of a version that is not known."""

from typing import Any

import pytest

from core.errors import UnreadableRecord
from core.upcasting import SCHEMA_VERSION, UPCASTERS, upcast


def renamed(record: dict[str, Any]) -> dict[str, Any]:
    return {**{key: value for key, value in record.items() if key != "old"}, "new": record["old"]}


def doubled(record: dict[str, Any]) -> dict[str, Any]:
    return {**record, "new": record["new"] * 2}


def test_records_written_by_an_older_version_take_every_step_since() -> None:
    steps = {1: renamed, 2: doubled}
    first = {"v": 1, "old": 4}
    assert upcast(first, to_version=3, upcasters=steps) == {"v": 3, "new": 8}
    assert first == {"v": 1, "old": 4}, "what was read is not changed"
    assert upcast({"v": 2, "new": 5}, to_version=3, upcasters=steps) == {"v": 3, "new": 10}
    assert upcast({"v": 3, "new": 5}, to_version=3, upcasters=steps) == {"v": 3, "new": 5}


@pytest.mark.parametrize("version", [SCHEMA_VERSION + 1, 0, -1, None, "1", 1.0, True])
def test_an_unknown_version_is_refused(version: object) -> None:
    with pytest.raises(UnreadableRecord):
        upcast({"v": version})


def test_every_earlier_version_has_its_step() -> None:
    assert sorted(UPCASTERS) == list(range(1, SCHEMA_VERSION))
