"""The clock that stands still until it is moved."""

from datetime import UTC, datetime, timedelta

import pytest

from core.errors import MisuseError
from infra.memory import MemoryClock

START = datetime(2025, 1, 1, tzinfo=UTC)


async def test_who_sleeps_moves_the_clock() -> None:
    clock = MemoryClock(START)
    assert clock.now() == START
    clock.advance(1.5)
    await clock.sleep(2)
    assert clock.now() == START + timedelta(seconds=3.5)


def test_time_never_goes_back_and_is_never_local() -> None:
    with pytest.raises(MisuseError):
        MemoryClock(START).advance(-1)
    with pytest.raises(MisuseError):
        MemoryClock(START.replace(tzinfo=None))
