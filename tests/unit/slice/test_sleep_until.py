"""`sleep_until`: local times become instants once, in any zone, through gaps and folds; what is no time is told."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.clock import iso
from core.delivery import DELAY
from core.slice.builtin.sleep import resolved
from tests.support.inputs import user
from tests.support.played import calls, says
from tests.support.world import World, world

ZONES = sorted(available_timezones() - {"localtime", "posixrules"})
AROUND = [timedelta(minutes=15 * step) for step in range(-4 * 30, 4 * 30)]


def _offset(zone: ZoneInfo, instant: datetime) -> timedelta:
    offset = instant.astimezone(zone).utcoffset()
    assert offset is not None
    return offset


def _first_instant(zone: ZoneInfo, local: datetime) -> datetime:
    """The plain model: of the instants at which a clock there shows `local`, the first; if none does, the offset
    before the gap. Only ever asks what a clock shows at an instant, which is never in doubt.
    """
    wall = local.replace(tzinfo=UTC)
    offsets = list(dict.fromkeys(_offset(zone, wall + step) for step in AROUND))
    shown = [wall - offset for offset in offsets if _offset(zone, wall - offset) == offset]
    if shown:
        return min(shown)
    (before,) = [
        one
        for one, other in pairwise(offsets)
        if _offset(zone, wall - one) == other and _offset(zone, wall - other) == one
    ]
    return wall - before


def _changes(zone: ZoneInfo, year: int) -> list[datetime]:
    """The instants, to the minute, at which the offset changes in that year."""
    start, found = datetime(year, 1, 1, tzinfo=UTC), []
    days = [start + timedelta(days=day) for day in range(367)]
    for before, after in pairwise(days):
        while _offset(zone, before) != _offset(zone, after) and after - before > timedelta(minutes=1):
            middle = before + (after - before) / 2
            same = _offset(zone, middle) == _offset(zone, before)
            before, after = (middle, after) if same else (before, middle)
        found += [after] if _offset(zone, before) != _offset(zone, after) else []
    return found


@st.composite
def _near_a_change(draw: st.DrawFn) -> tuple[ZoneInfo, datetime]:
    """A zone, and a local time about a change of its offset, where it has one in that year."""
    zone, year = ZoneInfo(draw(st.sampled_from(ZONES))), draw(st.integers(1975, 2037))
    change = draw(st.sampled_from(_changes(zone, year) or [datetime(year, 1, 1, tzinfo=UTC)]))
    shown = change.astimezone(zone).replace(tzinfo=None, fold=0)
    return zone, shown.replace(second=0, microsecond=0) + timedelta(minutes=draw(st.integers(-90, 90)))


@settings(max_examples=150, deadline=None)
@given(_near_a_change())
def test_a_local_time_is_the_instant_that_a_plain_model_finds(place: tuple[ZoneInfo, datetime]) -> None:
    zone, local = place
    wall = local.replace(tzinfo=UTC)
    seen = [_offset(zone, wall + step) for step in AROUND]
    assume(sum(one != other for one, other in pairwise(seen)) <= 1)
    assert resolved(local, zone) == _first_instant(zone, local)


KNOWN: dict[str, tuple[str, str, str, str]] = {
    "a gap moves forward": ("2026-03-08", "02:30", "America/New_York", "2026-03-08T07:30:00.000Z"),
    "a fold takes the first": ("2026-11-01", "01:30", "America/New_York", "2026-11-01T05:30:00.000Z"),
    "half an hour of gap": ("2026-10-04", "02:15", "Australia/Lord_Howe", "2026-10-03T15:45:00.000Z"),
    "seconds": ("2026-03-29", "02:30:15", "Europe/Berlin", "2026-03-29T01:30:15.000Z"),
    "UTC": ("2026-01-01", "00:00", "UTC", "2026-01-01T00:00:00.000Z"),
    "a day that was left out": ("2011-12-30", "12:00", "Pacific/Apia", "2011-12-30T22:00:00.000Z"),
}


@pytest.mark.parametrize("known", KNOWN)
def test_known_instants(known: str) -> None:
    date, time, zone, instant = KNOWN[known]
    assert iso(resolved(datetime.fromisoformat(f"{date} {time}"), ZoneInfo(zone))) == instant


async def _asked(**arguments: Any) -> World:
    one = world(calls(("sleep_until", arguments)), says("fine"))
    await one.run(user("sleep"))
    return one


async def test_it_sleeps_until_that_instant() -> None:
    one = await _asked(date="2025-03-30", time="02:30", timezone="Europe/Berlin")
    (timer,) = one.dispatcher.once(DELAY)
    assert timer.due_at == datetime(2025, 3, 30, 1, 30, tzinfo=UTC)
    assert (await one.state()).runnable is False


async def test_an_instant_that_is_past_is_told_at_once() -> None:
    one = await _asked(date="2024-12-31", time="23:59", timezone="UTC")
    assert (await one.lines())[-1] == "Asst(fine)"
    assert "error" not in (await one.lines())[-2]


@pytest.mark.parametrize(
    ("date", "time", "zone"),
    [
        *(
            ("2026-01-01", "12:00", zone)
            for zone in ("", ".", "../x", "/etc/localtime", "Europe", "zone.tab", "tzdata.zi", "Mars/Base")
        ),
        *(
            ("2026-01-01", "12:00", zone)
            for zone in ("a\0b", "x" * 5_000, "\ud800", "Europe/Berlin ", "+01:00")
        ),
        *(("2026-01-01", "12:00", zone) for zone in ("localtime", "posixrules", "right/UTC", "posix/UTC")),
        ("2026-02-30", "12:00", "UTC"),
        ("2026-01-01", "25:00", "UTC"),
        ("2026-01-01", "12:00Z", "UTC"),
        ("2026-01-01", "noon", "UTC"),
        ("tomorrow", "12:00", "UTC"),
        ("0001-01-01", "00:00", "Asia/Tokyo"),
        ("9999-12-31", "23:59", "America/New_York"),
        ("2036-01-01", "00:00", "UTC"),
    ],
)
async def test_what_is_no_time_or_no_zone_is_told_and_nobody_sleeps(date: str, time: str, zone: str) -> None:
    one = await _asked(date=date, time=time, timezone=zone)
    assert (await one.lines())[-2:] == ["Result(sleep_until, error)", "Asst(fine)"]
    assert one.dispatcher.once(DELAY) == []
